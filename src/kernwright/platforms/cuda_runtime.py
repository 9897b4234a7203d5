"""The runner's half of the CUDA platform: memory, clocks and allocator inside the sandbox."""

import ctypes
import mmap
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from time import perf_counter_ns
from typing import Any

import torch
from cuda.bindings import driver

from kernwright.core.gate import OPEN_AT, QUEUED_AT
from kernwright.platforms import cuda_gate
from kernwright.platforms.cuda_memory import Mapping, checked, imported
from kernwright.platforms.cuda_packed import Packed
from kernwright.platforms.cuda_share import Seen, vendor_share

_GATE_THREADS = 512
"""A block's. The gate fills every multiprocessor, so that no other stream's kernels run behind it."""
_IN_ORDER_BYTES = 16 << 20
"""Results up to this size are copied in stream order. To copy more takes so long that work on another stream could be
done by the time its part is copied: they are copied when the device is idle, and what it did until then counts."""
_UNTOLD = 1 << 31
"""From here on turns are those of gates that open by themselves."""
SLACK_NS = 20_000
"""What a device synchronisation after the end event may take longer than it does on an idle device."""


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


class CudaRuntime:
    """The first visible device, its current stream, and clocks that were taken before a candidate was loaded."""

    device = "cuda:0"

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        if os.environ.get("KERNWRIGHT_FRESH_MEMORY"):
            torch.use_deterministic_algorithms(True, warn_only=True)  # fills what `torch.empty` and its like give
        torch.cuda.init()  # type: ignore[no-untyped-call]
        self._clock = perf_counter_ns
        self._synchronize = torch._C._cuda_synchronize  # thrice a call; PyTorch's wrapper takes 15 µs longer
        self._start, self._end = _event(), _event()
        self._record, self._wait, self._elapsed = (
            torch.cuda.Event.record, torch.cuda.Event.synchronize, torch.cuda.Event.elapsed_time,
        )  # fmt: skip
        self._stream = torch.cuda.current_stream
        torch.zeros(1, device=self.device)
        self._last = _event()
        self._module = checked(driver.cuModuleLoadData(cuda_gate.told()))
        self._gate = checked(driver.cuModuleGetFunction(self._module, b"gate"))
        properties = torch.cuda.get_device_properties(self.device)
        self._gate_blocks = properties.multi_processor_count * (
            properties.max_threads_per_multi_processor // _GATE_THREADS
        )
        self._relay = torch.zeros(1, dtype=torch.int32, device=self.device)
        self._parameters = Packed(*cuda_gate.PARAMETERS)
        self._untold = _UNTOLD
        self._told = 0
        self._queued: ctypes.c_uint32 | None = None
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

    def listen(self, fd: int) -> None:
        """Map the page in which the judge opens gates and is told what is queued."""
        page = mmap.mmap(fd, mmap.PAGESIZE)
        self._queued = ctypes.c_uint32.from_buffer(page, QUEUED_AT)
        address = ctypes.addressof(ctypes.c_uint32.from_buffer(page, OPEN_AT))
        checked(driver.cuMemHostRegister(address, mmap.PAGESIZE, driver.CU_MEMHOSTREGISTER_DEVICEMAP))
        self._told = int(checked(driver.cuMemHostGetDevicePointer(address, 0)))

    def timed(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        deliver: Callable[[Any], Any],
        *,
        nbytes: int = 0,
        turn: int = 0,
        limit_ns: int = 0,
        in_order: bool = True,
    ) -> tuple[Any, dict[str, float]]:
        """What `deliver` makes of the result, and `device_ns`, `call_ns`, `host_ns` and `late_ns`.

        Device time lies between two events on the current stream; with a `limit_ns` work on the host is hidden behind
        a gate before the first, which opens when the judge says `turn`, or by itself after the limit. What the device
        did after everything on that stream was done, for `late_ns`, counts too where it is much. Call time is from
        idle to complete, and means something without a gate only. Host time is what the call took to return.

        `in_order`: deliver in stream order, so that what other streams do without being waited for comes too late.
        """
        self._synchronize()
        if limit_ns:
            self._close_gate(turn, limit_ns)
        self._record(self._start, self._stream())
        before = self._clock()
        result = function(*arguments)
        returned = self._clock()
        self._record(self._end, self._stream())
        at_once = in_order and nbytes <= _IN_ORDER_BYTES
        delivered = deliver(result) if at_once else None
        self._record(self._last, self._stream())
        self._tell(turn)
        self._wait(self._last)
        ended = self._clock()
        self._synchronize()
        idle = self._clock()
        late = idle - ended - self._idle_ns
        return delivered if at_once else deliver(result), {
            "device_ns": self._elapsed(self._start, self._end) * 1e6 + (late if late > SLACK_NS else 0.0),
            "call_ns": float(idle - before),
            "host_ns": float(returned - before),
            "late_ns": max(late, 0.0),
        }

    def reserve(self, sizes: Sequence[int]) -> None:
        """The caching allocator keeps what was freed."""

    def settle(self) -> None:
        """Until the device is idle."""
        self._synchronize()

    def burst(
        self, calls: Sequence[Callable[[], Any]], turn: int, limit_ns: int, deliver: Callable[[int, Any], object]
    ) -> None:
        """All calls behind one gate, with what is done with each one's result; that they are queued is told before."""
        if not self._hold(turn):
            self._close_gate(turn, limit_ns)
        for index, call in enumerate(calls):
            result = call()
            deliver(index, result)
            del result
        self._tell(turn)
        self._synchronize()

    def poison(self, pattern: int | None, sizes: Sequence[int]) -> None:
        """Leave blocks of these sizes, filled with this byte, at hand for the allocator's next calls."""
        if pattern is not None:
            blocks = [torch.empty(size, dtype=torch.uint8, device=self.device) for size in sizes for _ in range(2)]
            for block in blocks:
                block.fill_(pattern)

    def vendor_share(self, function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[float, list[str]]:
        """Share of the device time of one call that is PyTorch's and vendors' work, in any thread, and names of it."""
        from torch._C._profiler import _ExperimentalConfig
        from torch.profiler import ProfilerActivity, profile

        os.environ["KINETO_LOG_LEVEL"] = "5"
        activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with profile(activities=activities, experimental_config=_all_threads(_ExperimentalConfig)) as profiled:
            function(*arguments)
            self._synchronize()
        return vendor_share(
            Seen(event.key, event.device_type.name == "CUDA", float(event.self_device_time_total))
            for event in profiled.key_averages()
        )

    def _close_gate(self, turn: int, limit_ns: int) -> None:
        if turn == 0:
            self._untold += 1
        stream = driver.CUstream(self._stream().cuda_stream)
        relay = self._relay.data_ptr()
        values = self._parameters.address(limit_ns, self._told or relay, relay, turn or self._untold)
        grid, block = (self._gate_blocks, 1, 1), (_GATE_THREADS, 1, 1)
        checked(driver.cuLaunchKernel(self._gate, *grid, *block, 0, stream, values, 0))

    def _hold(self, turn: int) -> bool:
        """Have the stream wait for the judge's word by itself, where the driver lets it.

        A gate's kernel keeps the device: whatever the judge does there meanwhile waits 2.4 ms for its turn, on an H100,
        and 0.03 ms beside a stream that waits so. Other streams are free, and work on inputs that are not right yet.
        """
        if not (turn and self._told):
            return False
        stream, flags = driver.CUstream(self._stream().cuda_stream), driver.CUstreamWaitValue_flags
        status = driver.cuStreamWaitValue32(stream, self._told, turn, flags.CU_STREAM_WAIT_VALUE_EQ)[0]
        return bool(status == driver.CUresult.CUDA_SUCCESS)

    def _tell(self, turn: int) -> None:
        if turn and self._queued is not None:
            self._queued.value = turn

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


def _all_threads(config: Any) -> Any:
    """Older versions see the calling thread's operators alone."""
    try:
        return config(profile_all_threads=True)
    except TypeError:
        return None
