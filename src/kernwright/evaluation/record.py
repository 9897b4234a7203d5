"""Shared memory for the results of many calls: what lies there when a message is answered was done by then."""

from collections.abc import Sequence

import torch

from kernwright.core.ports import DeviceSession

from .runner.structure import view
from .setting import Setting


class Record:
    """One place for each call; a runner writes there, and learns of no call that the judge looks at."""

    def __init__(self, session: DeviceSession, setting: Setting, count: int) -> None:
        self._specs = setting.output_specs
        self.stride = setting.sizes[2]
        self._buffer = session.buffer(count * self.stride)

    @property
    def fd(self) -> int:
        """For the runner."""
        return self._buffer.fd

    def clear(self) -> None:
        """No result of an earlier message is left."""
        self._buffer.bytes.fill_(0xFF)

    def results(self, calls: Sequence[int]) -> dict[int, list[torch.Tensor]]:
        """Private copies of what these calls gave."""
        return {index: [slot.clone() for slot in self._slots(index)] for index in calls}

    def close(self) -> None:
        """Give the memory back; the runner has let go of it, or is dead."""
        self._buffer.close()

    def _slots(self, index: int) -> list[torch.Tensor]:
        place = self._buffer.bytes[index * self.stride : (index + 1) * self.stride]
        return [view(place, spec) for spec in self._specs]
