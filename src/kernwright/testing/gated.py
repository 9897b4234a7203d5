"""The processor as a device whose calls wait behind a gate, for tests of what a judge does with such a device."""

import ctypes
import mmap
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, Literal

from kernwright.core.gate import OPEN_AT, QUEUED_AT
from kernwright.core.ports import DeviceSession
from kernwright.platforms.cpu import Cpu, CpuSession
from kernwright.platforms.cpu_runtime import CpuRuntime


class Gated(Cpu):
    """Its session's calls wait."""

    def open(self, target: str) -> DeviceSession:
        return GatedSession()


class GatedSession(CpuSession):
    """Calls are let go by the judge, alone or many in one message."""

    runtime = f"{__name__}:GatedRuntime"
    clocks: Sequence[Literal["device", "call"]] = ("device", "call")
    bursts = True
    apart_bytes = 1 << 20


class GatedRuntime(CpuRuntime):
    """Says that calls are queued, and makes them when the judge says so."""

    def listen(self, fd: int) -> None:
        """Map the page in which the judge opens gates."""
        page = mmap.mmap(fd, mmap.PAGESIZE)
        self._open = ctypes.c_uint32.from_buffer(page, OPEN_AT)
        self._queued = ctypes.c_uint32.from_buffer(page, QUEUED_AT)

    def timed(self, *arguments: Any, **more: Any) -> tuple[Any, dict[str, float]]:
        self._await(more.get("turn", 0), more.get("limit_ns", 0))
        return super().timed(*arguments, **more)

    def burst(
        self, calls: Sequence[Callable[[], Any]], turn: int, limit_ns: int, deliver: Callable[[int, Any], object]
    ) -> None:
        self._await(turn, limit_ns)
        super().burst(calls, turn, limit_ns, deliver)

    def _await(self, turn: int, limit_ns: int) -> None:
        if not turn:
            return
        self._queued.value = turn
        end = perf_counter_ns() + limit_ns
        while self._open.value != turn and perf_counter_ns() < end:
            pass
