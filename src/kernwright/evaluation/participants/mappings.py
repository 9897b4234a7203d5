"""Memory of a stopped runner's: which file lies where, and pages that lie at several of its addresses.

What is written to one of these addresses shows at all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kernwright.evaluation.runner import tree

Span = tuple[int, int]
"""First byte and the one after the last."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Memory of a process, from which address on to which, where its file has it; no path: of no file."""

    first: int
    end: int
    offset: int
    path: str
    file: tuple[str, int] = ("", 0)
    """Device and inode, which is 0 where there is none."""


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
    lines = tree.lines(f"/proc/{pid}/maps")  # none where it has ended, and whoever reads its results says so
    mapped = sorted(_mapped(lines, _joined(spans)))
    return any(
        (one.device, one.inode) == (other.device, other.inode) and other.start < one.end
        for one, other in pairwise(mapped)
    )


def mapping_of(line: bytes) -> Mapping | None:
    """What a line of `/proc/PID/maps` says, which may end in any name; None where it cannot be read."""
    try:
        addresses, _, offset, device, inode, *path = line.split(None, 5)
        first, end = (int(number, 16) for number in addresses.split(b"-"))
        name = path[0].decode(errors="replace") if path else ""
        return Mapping(first, end, int(offset, 16), name, (device.decode(), int(inode)))
    except ValueError:
        return None


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
    for mapping in map(mapping_of, lines):
        if mapping is None or mapping.file[1] == 0:
            continue
        for start, end in spans:
            if start < mapping.end and mapping.first < end:
                shift = mapping.offset - mapping.first
                yield _Mapped(*mapping.file, max(start, mapping.first) + shift, min(end, mapping.end) + shift)
