"""Where a problem's code runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns

from kernwright.core.ports import DeviceSession

from .spending import alone


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
    slowed: Callable[[], float] = alone
    """How many times as long as alone a piece of work takes there now, because of others."""


HOST = Place()


def place_of(session: DeviceSession) -> Place:
    """The place that a device's session stands for."""
    return Place(
        device=session.device,
        memory_bytes=session.memory_bytes,
        apart_bytes=session.apart_bytes,
        free=session.free,
        slowed=partial(_slowed, session),
    )


def _slowed(session: DeviceSession) -> float:
    """Told by emptying the caches, whose time alone is known of a device."""
    if not session.flush_ns:
        return 1.0
    session.settle()
    start = perf_counter_ns()
    session.flush()
    session.settle()
    return (perf_counter_ns() - start) / session.flush_ns
