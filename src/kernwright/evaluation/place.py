"""Where a problem's code runs."""

from collections.abc import Callable
from dataclasses import dataclass

from kernwright.core.ports import DeviceSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the problem's code runs and its tensors lie."""

    device: str = "cpu"
    memory_bytes: int | None = None
    """Of the device; None: what the operating system gives."""
    apart_bytes: int = 0
    """Two input sets of a workload that hold more together lie over one another; 0: none do."""
    free: Callable[[], None] = lambda: None
    """Gives memory back that others on the device may need."""


HOST = Place()


def place_of(session: DeviceSession) -> Place:
    """The place that a device's session stands for."""
    return Place(
        device=session.device,
        memory_bytes=session.memory_bytes,
        apart_bytes=session.apart_bytes,
        free=session.free,
    )
