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
    rotation_bytes: int = 0
    """What the input sets of a workload hold together at least; 0: two sets are enough."""
    free: Callable[[], None] = lambda: None
    """Gives memory back that others on the device may need."""


HOST = Place()


def place_of(session: DeviceSession) -> Place:
    """The place that a device's session stands for."""
    return Place(
        device=session.device,
        memory_bytes=session.memory_bytes,
        rotation_bytes=session.rotation_bytes,
        free=session.free,
    )
