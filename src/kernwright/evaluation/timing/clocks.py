"""What a call, or many of them, showed."""

from dataclasses import dataclass
from typing import Literal

import torch

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
    queued: bool = True
    """Whether all of it was, when the judge's clock began; else it holds some of the host's work."""
