"""The runner's half of the CUDA platform: memory, clocks and allocator inside the sandbox."""

import ctypes
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from time import perf_counter_ns
from typing import Any

import torch
from cuda.bindings import driver

from kernwright.platforms import cuda_spin
from kernwright.platforms.cuda_memory import Mapping, checked, imported

_SPIN_THREADS = 512
"""A block's. The spin fills every multiprocessor, so that no other stream's kernels run behind it."""
SLACK_NS = 20_000
"""What a device synchronisation after the end event may take longer than it does on an idle device."""


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


class CudaRuntime:
    """The first visible device, its current stream, and clocks that were taken before a candidate was loaded."""

    device = "cuda:0"

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self._clock = perf_counter_ns
        self._synchronize = torch.cuda.synchronize
        self._start, self._end = _event(), _event()
        self._record, self._wait, self._elapsed = (
            torch.cuda.Event.record, torch.cuda.Event.synchronize, torch.cuda.Event.elapsed_time,
        )  # fmt: skip
        self._stream = torch.cuda.current_stream
        torch.zeros(1, device=self.device)
        self._module = checked(driver.cuModuleLoadData(cuda_spin.told()))
        self._spin = checked(driver.cuModuleGetFunction(self._module, b"spin"))
        properties = torch.cuda.get_device_properties(self.device)
        self._spin_blocks = properties.multi_processor_count * (
            properties.max_threads_per_multi_processor // _SPIN_THREADS
        )
        self._mapped: list[Mapping] = []
        self._idle_ns = self._idle()

    def open(self, fd: int, nbytes: int, *, read_only: bool) -> torch.Tensor:
        """The shared allocation behind `fd` as uint8 of shape (nbytes,)."""
        mapping = imported(fd, nbytes, 0, read_only=read_only)
        self._mapped.append(mapping)
        return mapping.bytes

    def close(self, memory: torch.Tensor) -> None:
        """Give up an allocation that `open` gave; no tensor over it may be used again."""
        address = memory.data_ptr()
        for mapping in list(self._mapped):
            if mapping.bytes.data_ptr() == address:
                self._mapped.remove(mapping)
                del memory
                mapping.close()
                return

    def building(self, on_host: bool) -> AbstractContextManager[Any]:
        """Around the construction of modules: what they make lies on the device, unless they insist on the host."""
        return nullcontext() if on_host else torch.device(self.device)

    def timed(
        self, function: Callable[..., Any], arguments: Sequence[Any], spin_ns: int = 0
    ) -> tuple[Any, dict[str, float]]:
        """Result, and `device_ns`, `call_ns`, `host_ns` and `late_ns`.

        Device time lies between two events on the current stream; work on the host is hidden behind a kernel that
        spins for `spin_ns` before the first. Where the device is busy after the second, for `late_ns`, that counts
        too. Call time is from idle to complete, and means something without a spin only. Host time is what the call
        took to return.
        """
        self._synchronize()
        if spin_ns:
            self._launch_spin(spin_ns)
        self._record(self._start, self._stream())
        before = self._clock()
        result = function(*arguments)
        returned = self._clock()
        self._record(self._end, self._stream())
        self._wait(self._end)
        ended = self._clock()
        self._synchronize()
        idle = self._clock()
        device_ns = self._elapsed(self._start, self._end) * 1e6
        late = idle - ended - self._idle_ns
        late = late if late > SLACK_NS else 0.0
        return result, {
            "device_ns": device_ns + late,
            "call_ns": float(idle - before),
            "host_ns": float(returned - before),
            "late_ns": late,
        }

    def settle(self) -> None:
        """Until the device is idle."""
        self._synchronize()

    def burst(self, call: Callable[[], Any], count: int, spin_ns: int) -> tuple[Any, float]:
        """The last of `count` results, and the nanoseconds of the host, which a spin hides."""
        self._launch_spin(spin_ns)
        start = self._clock()
        for _ in range(count):
            result = call()
        queued = float(self._clock() - start)
        self._synchronize()
        return result, queued

    def poison(self, pattern: int | None, sizes: Sequence[int]) -> None:
        """Leave blocks of these sizes, filled with this byte, at hand for the allocator's next calls."""
        if pattern is not None:
            blocks = [torch.empty(size, dtype=torch.uint8, device=self.device) for size in sizes for _ in range(2)]
            for block in blocks:
                block.fill_(pattern)

    def vendor_share(self, function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[float, list[str]]:
        """Share of the device time of one call that PyTorch's own operators launched, and their names."""
        from torch.profiler import ProfilerActivity, profile

        os.environ["KINETO_LOG_LEVEL"] = "5"
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            function(*arguments)
            self._synchronize()
        theirs: dict[str, float] = {}
        total = 0.0
        for event in seen.key_averages():
            own = float(event.self_device_time_total)
            if event.key.startswith("aten::"):
                theirs[event.key.removeprefix("aten::")] = own
            elif event.device_type.name == "CUDA":
                total += own
        names = sorted((name for name, spent in theirs.items() if spent), key=lambda name: -theirs[name])
        return sum(theirs.values()) / max(total, 1e-9), names[:8]

    def _launch_spin(self, nanoseconds: int) -> None:
        stream = driver.CUstream(self._stream().cuda_stream)
        values = ((nanoseconds,), (ctypes.c_uint64,))
        grid, block = (self._spin_blocks, 1, 1), (_SPIN_THREADS, 1, 1)
        checked(driver.cuLaunchKernel(self._spin, *grid, *block, 0, stream, values, 0))

    def _idle(self) -> float:
        """What a synchronisation of an idle device takes after one of an event, in nanoseconds."""
        taken = []
        for _ in range(20):
            self._record(self._end, self._stream())
            self._wait(self._end)
            before = self._clock()
            self._synchronize()
            taken.append(self._clock() - before)
        return float(median(taken))
