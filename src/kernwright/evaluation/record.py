"""Shared memory for long messages: an input set of its own for each call, and a place for its results."""

from collections.abc import Sequence

import torch

from kernwright.core.ports import DeviceSession

from .runner.structure import view
from .setting import Setting


class Stretch:
    """A shared allocation of which each call has a part of its own."""

    def __init__(self, session: DeviceSession, count: int, stride: int) -> None:
        self.stride = stride
        self._buffer = session.buffer(_roomy(count * stride))
        self.bytes: torch.Tensor = self._buffer.bytes[: count * stride]

    @property
    def fd(self) -> int:
        """For the runner."""
        return self._buffer.fd

    @property
    def nbytes(self) -> int:
        """Of the whole allocation."""
        return int(self._buffer.bytes.numel())

    def close(self) -> None:
        """Give the memory back; the runner has let go of it, or is dead."""
        del self.bytes
        self._buffer.close()


class Record(Stretch):
    """What lies there when a message is answered was done by then; a runner learns of no call that is looked at."""

    def __init__(self, session: DeviceSession, setting: Setting, count: int) -> None:
        super().__init__(session, count, setting.sizes[2])
        self._specs = setting.output_specs

    def clear(self) -> None:
        """No result of an earlier message is left."""
        self.bytes.fill_(0xFF)

    def results(self, calls: Sequence[int]) -> dict[int, list[torch.Tensor]]:
        """Private copies of what these calls gave."""
        return {index: [slot.clone() for slot in self._slots(index)] for index in calls}

    def _slots(self, index: int) -> list[torch.Tensor]:
        place = self.bytes[index * self.stride : (index + 1) * self.stride]
        return [view(place, spec) for spec in self._specs]


def _roomy(nbytes: int) -> int:
    """So much or up to a quarter more, of which there are few: a large allocation serves again where its size does."""
    step = 1 << max(0, nbytes.bit_length() - 3)
    return -(-nbytes // step) * step
