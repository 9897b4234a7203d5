"""The runner's half of the CPU platform: memory, clock and allocator inside the sandbox."""

import ctypes
import mmap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_PERTURB = -1, -3, -6
_LARGEST_MMAP_THRESHOLD = 32 << 20
"""More than this glibc refuses."""
_STAND_IN = 0xC1
"""For a poison of 0xFF, of which glibc does nothing. As float32 it is -24; and what glibc fills freed memory with, the
complement, is 0.19, where that of other bytes is next to nothing."""
_SMALL, _AT_HAND = range(24, 1033, 16), 7
"""Bytes, and how many blocks of each glibc keeps at hand for a thread, and hands out as they are."""
_PIECE, _RESULTS, _MOST_RESERVED = 16 << 20, 16, 256 << 20
"""Bytes that are touched in one piece; of so many calls results lie beside each other until what is freed fits the next
aligned block again (glibc 2.36: 12 or so); and bytes at the most."""
_FREE_OPERATORS = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided view _unsafe_view reshape as_strided detach alias "
    "t transpose permute expand squeeze unsqueeze select slice narrow unbind split chunk unfold diagonal "
    "resize_ set_ lift_fresh _local_scalar_dense zeros zeros_like new_zeros full fill_ zero_".split()
)
"""Operators that allocate, initialise or only change how memory is seen: no kernel's work."""


class CpuRuntime:
    """One thread count, one clock, one allocator that keeps freed memory (glibc)."""

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        self._clock = perf_counter_ns
        self._libc = ctypes.CDLL(None)
        self._mallopt = getattr(self._libc, "mallopt", None)
        # By default glibc gives large blocks back to the system or not by the history of the heap, and
        # whether a call pays for fresh pages decides a factor of two. All participants keep freed memory.
        if self._mallopt is not None:
            self._mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
            self._mallopt(_M_TRIM_THRESHOLD, 1 << 30)

    device = "cpu"

    def open(self, fd: int, nbytes: int, *, read_only: bool) -> torch.Tensor:
        """The shared allocation behind `fd` as uint8 of shape (nbytes,); always writable."""
        return torch.frombuffer(mmap.mmap(fd, nbytes), dtype=torch.uint8)

    def close(self, memory: torch.Tensor) -> None:
        """The mapping goes with its last tensor."""

    def building(self, on_host: bool) -> AbstractContextManager[Any]:
        """Around the construction of modules."""
        return nullcontext()

    def reserve(self, sizes: Sequence[int]) -> None:
        """Have pages at hand for results of so many bytes each. A heap that has to grow pays for each page, and whether
        the next result fits into what was freed depends on its history: in a new process a dozen calls and more take
        twice as long or ten times."""
        left = min(_RESULTS * sum(n for n in sizes if n <= _LARGEST_MMAP_THRESHOLD), _MOST_RESERVED)
        touched = [torch.ones(min(_PIECE, left - begin), dtype=torch.uint8) for begin in range(0, left, _PIECE)]
        touched.clear()

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
        """What `deliver` makes of the result, and times in nanoseconds; a call is synchronous, so they are one."""
        start = self._clock()
        result = function(*arguments)
        elapsed = float(self._clock() - start)
        times = {"device_ns": elapsed, "call_ns": elapsed, "host_ns": elapsed, "late_ns": 0.0}
        return deliver(result), times

    def settle(self) -> None:
        """Calls are synchronous."""

    def burst(
        self, calls: Sequence[Callable[[], Any]], turn: int, limit_ns: int, deliver: Callable[[int, Any], object]
    ) -> None:
        """One call after the other, and what is done with each one's result."""
        for index, call in enumerate(calls):
            deliver(index, call())

    def poison(self, pattern: int | None, sizes: Sequence[int]) -> None:
        """Have the allocator fill fresh memory with this byte (1..255); None stops it. glibc only."""
        if self._mallopt is None:
            return
        if pattern is not None:
            pattern = _STAND_IN if pattern == 0xFF else pattern
            self._mallopt(_M_PERTURB, 0)  # which joins small free blocks, too
            self._fill_small(pattern)
        self._mallopt(_M_PERTURB, 0 if pattern is None else pattern ^ 0xFF)

    def _fill_small(self, pattern: int) -> None:
        take, give = self._libc.malloc, self._libc.free
        take.restype, give.restype, give.argtypes = ctypes.c_void_p, None, [ctypes.c_void_p]
        for n in _SMALL:
            # What is taken beyond those at hand brings others there; once all are there that belong, they are filled.
            for count in (_AT_HAND + 1, _AT_HAND):
                blocks = [take(n) for _ in range(count)]
                for block in blocks:
                    ctypes.memset(block, pattern, n)
                for block in blocks:
                    give(block)

    def vendor_share(self, function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[float, list[str]]:
        """Share of a call's time inside PyTorch's own operators, and their names, longest first."""
        watch = _OperatorClock(self._clock)
        with watch:
            elapsed = self.timed(function, arguments, lambda result: None)[1]["device_ns"]
        names = sorted(watch.spent_ns, key=lambda name: -watch.spent_ns[name])
        return sum(watch.spent_ns.values()) / max(elapsed, 1.0), names[:8]


class _OperatorClock(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, clock: Callable[[], int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._clock = clock
        self.spent_ns: dict[str, float] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        start = self._clock()
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix("aten::")
        if name not in _FREE_OPERATORS:
            self.spent_ns[name] = self.spent_ns.get(name, 0.0) + self._clock() - start
        return result
