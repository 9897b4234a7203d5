"""Shared memory for long messages: an input set of its own for each call, and a place for its results."""

import torch

from kernwright.core.ports import DeviceSession

from .runner.structure import view
from .setting import Setting


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


class Record(CallMemory):
    """What lies there when a message is answered was done by then; a runner learns of no call that is looked at."""

    def __init__(self, session: DeviceSession, setting: Setting, calls: int) -> None:
        super().__init__(session, calls, setting.sizes[2])
        self._specs = setting.output_specs

    def clear(self, calls: int) -> None:
        """No result of an earlier message is left for so many calls."""
        self.bytes[: calls * self.stride].fill_(0xFF)

    def slots(self, index: int) -> list[torch.Tensor]:
        """Where this call's results lie."""
        place = self.bytes[index * self.stride : (index + 1) * self.stride]
        return [view(place, spec) for spec in self._specs]
