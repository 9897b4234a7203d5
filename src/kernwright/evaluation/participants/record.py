"""Shared memory for long messages: an input set of its own for each call, and a place for its results."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kernwright.core.ports import DeviceSession
from kernwright.evaluation.runner.structure import dense, view


class CallMemory:
    """A shared allocation of which each of so many calls has a part of its own, `stride` bytes."""

    def __init__(self, session: DeviceSession, calls: int, stride: int) -> None:
        self.stride, self.nbytes = stride, calls * stride
        self._buffer = session.buffer(self.nbytes)
        self.bytes: torch.Tensor = self._buffer.bytes

    @property
    def fd(self) -> int:
        """For the runner."""
        return self._buffer.fd

    def close(self) -> None:
        """Give it up for good: a runner that has not let go of it shares it with nobody else."""
        del self.bytes
        self._buffer.discard()


Layouts = list[list[int]]
"""Strides of each result of a call."""


def layouts_of(said: object, specs: Sequence[Mapping[str, Any]]) -> Layouts:
    """How results lie in their places, as a runner says: who lies gets their elements in another order.

    Raises:
        ValueError: nothing that such results could fill lies so.
    """
    if said is None:
        return [list(spec["strides"]) for spec in specs]
    if not (isinstance(said, list) and len(said) == len(specs)):
        raise ValueError("it has to say how as many results lie as a call has")
    return [_layout_of(each, spec) for each, spec in zip(said, specs, strict=True)]


def _layout_of(said: object, spec: Mapping[str, Any]) -> list[int]:
    shape, usual = spec["shape"], list(spec["strides"])
    if said == usual:
        return usual
    if not (isinstance(said, list) and len(said) == len(shape) and all(type(s) is int for s in said)):
        raise ValueError("results have a stride for each dimension")
    if not dense(shape, said):
        raise ValueError("results lie so that they do not fill their places")
    return [s if n > 1 else 1 for s, n in zip(said, shape, strict=True)]


def results_in(memory: torch.Tensor, specs: Sequence[Mapping[str, Any]], layouts: Layouts) -> list[torch.Tensor]:
    """A call's results in its bytes, where they lie so."""
    return [view(memory, {**spec, "strides": strides}) for spec, strides in zip(specs, layouts, strict=True)]


_LARGE, _STEP, _CLEARED = 1 << 16, 4096, 256
"""From so many bytes of a result on, of so many each so many are cleared: whoever leaves a call out cannot know what
belongs there."""


class Record(CallMemory):
    """What lies there when a message is answered was done by then; a runner learns of no call that is looked at."""

    def clear(self, calls: int) -> None:
        """No result of an earlier message is left for so many calls."""
        each = self.bytes[: calls * self.stride].view(calls, self.stride)
        steps = self.stride // _STEP if self.stride >= _LARGE else 0
        each[:, : steps * _STEP].view(calls, steps, _STEP)[..., :_CLEARED].fill_(0xFF)
        each[:, steps * _STEP :].fill_(0xFF)

    def of(self, call: int) -> torch.Tensor:
        """The bytes of its results."""
        return self.bytes[call * self.stride : (call + 1) * self.stride]
