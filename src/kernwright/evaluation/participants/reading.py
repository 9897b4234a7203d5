"""Results and weights where they lie: the judge reads and writes a runner's memory while that is stopped.

A runner that delivers its results itself has as long for that as a copy takes, and may compute in that time. One that
is handed other weights knows when they changed, and may bring what it keeps of them up to date.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from kernwright.evaluation.runner import kernel
from kernwright.evaluation.runner.structure import put, sharing

from .mappings import Span

_SENSELESS = (KeyError, IndexError, TypeError, ValueError, RuntimeError)
_PIECE = 1 << 30
"""A system call copies less than 2 GiB."""
MOST_BYTES = 8 << 30
"""Between the first byte of a result and its last; who returns one of a few elements far apart makes it contiguous."""


class Unreadable(Exception):
    """What a runner says of its result does not lead to one; the text says why."""


def results(pid: int, reply: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]) -> list[torch.Tensor]:
    """What a call gave, by the reply's `outputs` and `at`: what each is and where it lies; `specs`: what was asked for.

    Raises:
        Unreadable: it lies nowhere, or is not that.
    """
    found = []
    for said, address, spec in _each(reply.get("outputs"), reply.get("at"), specs):
        tensor = _Place(pid, said, address, spec["shape"]).seen
        if tensor.dtype != getattr(torch, spec["dtype"]):
            raise Unreadable(_NONE)
        found.append(tensor)
    return found


def shared(reply: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]) -> tuple[int, int] | None:
    """Two results that lie in the same memory where the reference's do not, if any, by the reply's word."""
    try:
        return sharing(_places(reply, specs), [spec["shares"] for spec in specs])
    except _SENSELESS:  # of what makes no sense nothing is read either
        return None


def spans(reply: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]) -> list[Span]:
    """The addresses between which its results lie, by the reply's word."""
    try:
        return [
            (start, start + size * (1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))))
            for start, size, shape, strides in _places(reply, specs)
            if 0 not in shape
        ]
    except _SENSELESS:
        return []


def _places(
    reply: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]
) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """Of each result its address, bytes of an element, shape and strides."""
    return [
        (int(at), getattr(torch, spec["dtype"]).itemsize, tuple(map(int, one[2])), tuple(map(int, one[3])))
        for one, at, spec in zip(reply["outputs"], reply["at"], specs, strict=True)
    ]


def put_weights(pid: int, places: Any, weights: Sequence[torch.Tensor]) -> None:
    """Other weights, as `put` does that of own tensors, by its word: what each is and where; null leaves it.

    Raises:
        Unreadable: one lies nowhere, or has another shape.
    """
    for said, values in _each(places, weights):
        if said is not None:
            about, address = _pair(said)
            place = _Place(pid, about, address, list(values.shape))
            put(place.seen, values)
            place.write()


def _each(*lists: Any) -> Iterator[Any]:
    """What belongs together, of lists of one length."""
    if not all(isinstance(each, Sequence) and len(each) == len(lists[-1]) for each in lists):
        raise Unreadable(_NONE)
    return zip(*lists, strict=True)


def _pair(said: Any) -> tuple[Any, Any]:
    if not isinstance(said, list) or len(said) != 2:
        raise Unreadable(_NONE)
    return said[0], said[1]


class _Place:
    """A tensor in another process's memory, and a copy of all that lies between its first byte and its last."""

    def __init__(self, pid: int, said: Any, address: Any, expected: Sequence[int]) -> None:
        try:
            _, dtype, shape, strides, _ = said
            strides, kind = [int(stride) for stride in strides], getattr(torch, str(dtype), None)
            if shape != expected or len(strides) != len(shape) or min(strides, default=0) < 0:
                raise ValueError
            self._pid, self._at = pid, int(address)
        except (TypeError, ValueError) as error:
            raise Unreadable(_NONE) from error
        if not isinstance(kind, torch.dtype):
            raise Unreadable(_NONE)
        extent = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) if 0 not in shape else 0
        if extent * kind.itemsize > MOST_BYTES:
            raise Unreadable("a tensor's elements lie too far apart; make it contiguous()")
        self._flat = torch.empty(extent, dtype=kind)
        if not 0 <= self._at < 1 << 63:
            raise Unreadable(_NOWHERE)
        self._move(kernel.read_memory)
        self.seen = torch.as_strided(self._flat, shape, strides)

    def write(self) -> None:
        """All of it goes back."""
        self._move(kernel.write_memory)

    def _move(self, call: Callable[[int, int, int, int], int]) -> None:
        done, whole = 0, self._flat.numel() * self._flat.element_size()
        while done < whole:
            length = min(_PIECE, whole - done)
            try:
                moved = call(self._pid, self._at + done, self._flat.data_ptr() + done, length)
            except OSError as error:
                raise Unreadable(_NOWHERE) from error
            if moved != length:
                raise Unreadable(_NOWHERE)
            done += length


_NONE = "what it said of a tensor describes none"
_NOWHERE = "a tensor of it lies in memory that cannot be read or written"
