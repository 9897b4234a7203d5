"""What the judge holds of a runner's workload, and what a call showed."""

from dataclasses import dataclass
from typing import Literal

import torch

from kernwright.core.ports import Buffer

from .record import Record
from .reference import Values
from .setting import Setting

LEAST_QUEUE_NS, MOST_QUEUE_NS = 300_000, 10_000_000
"""How long a call may take to be queued behind its gate, by what it took before. Host work beyond the most stays
visible in device time, and so does that of a call that waits for the device itself."""
Clock = Literal["device", "call"]


@dataclass(frozen=True, slots=True)
class Clocks:
    """Nanoseconds of one call, by the runner's clock and by the judge's."""

    device_ns: float
    call_ns: float | None
    """None where that was not looked at."""
    judge_ns: float
    """From letting the call go that gave `device_ns` to having its outputs."""
    judge_call_ns: float | None
    """The same of the call that gave `call_ns`."""
    late_ns: float = 0.0
    """How long the device was busy after the call's end, as well as a host can see it."""
    queued: bool = True
    """Whether the host's work was done when the call was let go; else some of it is in `device_ns`."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Many calls in one message."""

    judge_ns: float
    """Until the judge had the results."""
    results: dict[int, list[torch.Tensor]]
    """Of the calls that were looked at."""


@dataclass(slots=True)
class Opened:
    """One workload of a participant: memory shared with its runner, and what is known of its calls."""

    setting: Setting
    inputs: tuple[list[torch.Tensor | None], ...]
    outputs: list[torch.Tensor]
    input_bytes: torch.Tensor
    output_bytes: torch.Tensor
    buffers: tuple[Buffer, Buffer]
    host_ns: float = 0.0
    """What the host was seen to need for one call, by the runner's word."""
    record: Record | None = None

    @property
    def queue_ns(self) -> float:
        """How long to wait until the host's work is done."""
        return min(2 * self.host_ns + LEAST_QUEUE_NS, MOST_QUEUE_NS)

    @property
    def queueable_calls(self) -> int:
        """How many calls a device queues behind a gate, each with copies of its results.

        About a thousand launches, each of which takes 4 µs of the host's time.
        """
        return int(800 / (max(self.host_ns / 4_000, 1.0) + len(self.outputs)))

    def fill(self, chosen: int, values: Values) -> None:
        """Put these values into an input set."""
        for slot, value in zip(self.inputs[chosen], values, strict=True):
            if slot is not None:
                slot.copy_(value)
