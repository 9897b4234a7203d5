"""Pages of a stopped runner's that lie at several of its addresses: what is written to one shows at all of them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

Span = tuple[int, int]
"""First byte and the one after the last."""


class _Mapped(NamedTuple):
    device: str
    inode: int
    start: int
    """Within the file."""
    end: int


def one_for_several(pid: int, spans: Iterable[Span]) -> bool:
    """Whether one stretch of a file, or of memory that can be shared, lies at two places within these addresses.

    Memory of a process's own has no file behind it, and each of its pages lies at one address.
    """
    try:
        lines = Path(f"/proc/{pid}/maps").read_bytes().splitlines()
    except OSError:  # it has ended, and whoever reads its results says so
        return False
    mapped = sorted(_mapped(lines, _joined(spans)))
    return any(
        (one.device, one.inode) == (other.device, other.inode) and other.start < one.end
        for one, other in pairwise(mapped)
    )


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Without those that overlap: two results may lie in the same memory where the reference's do."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _mapped(lines: Sequence[bytes], spans: Sequence[Span]) -> Iterable[_Mapped]:
    """What of a file lies within the spans, by the lines of `/proc/PID/maps`."""
    for line in lines:
        addresses, _, offset, device, inode, *_ = line.decode(errors="replace").split(maxsplit=5)
        if inode == "0":
            continue
        first, last = (int(part, 16) for part in addresses.split("-"))
        for start, end in spans:
            if start < last and first < end:
                shift = int(offset, 16) - first
                yield _Mapped(device, int(inode), max(start, first) + shift, min(end, last) + shift)
