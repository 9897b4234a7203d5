"""A driver for Triton that compiles for a described GPU, checks what a launch would check, and launches nothing."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from subprocess import SubprocessError
from typing import Any

import torch
import triton
import triton.testing
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import max_shared_mem
from triton.runtime.driver import driver

from .described_gpu import replaced
from .gpu_resources import image_resources
from .gpus import Gpu

_MOST_BLOCKS = (2**31 - 1, 65535, 65535)
"""Along each dimension of a grid; CUDA C++ Programming Guide, "Technical Specifications"."""
_LAUNCH_ARGUMENTS = 9
"""Of a launch before the kernel's own: grid, stream, function, two kinds of metadata, two hooks."""


@dataclass(slots=True)
class Kernels:
    """What was made ready to run, each compiled variant once."""

    needs: dict[str, dict[str, float]] = field(default_factory=dict)
    """By digest of the binary."""

    def add(self, image: bytes, shared_bytes: int, num_warps: int) -> dict[str, float]:
        """Returns what this one needs; `shared_bytes` is what is asked for at launch."""
        numbers = image_resources(image)
        numbers["shared_bytes"] = numbers.get("shared_bytes", 0.0) + shared_bytes
        numbers["num_warps"] = float(num_warps)
        self.needs[hashlib.sha256(image).hexdigest()] = numbers
        return numbers

    def resources(self) -> dict[str, float]:
        """The largest of each number over all kernels; of `cubin_bytes` the sum; `kernels` is how many there are."""
        largest: dict[str, float] = {}
        for numbers in self.needs.values():
            for name, value in numbers.items():
                largest[name] = max(value, largest.get(name, 0.0))
        if self.needs:
            largest["cubin_bytes"] = sum(numbers["cubin_bytes"] for numbers in self.needs.values())
        return {**largest, "kernels": float(len(self.needs))}


class DescribedDriver:
    """What Triton asks its driver for. `launchers` makes the real launcher of a kernel, where that can be done here."""

    def __init__(self, gpu: Gpu, launchers: Callable[[Any, Any], Any] | None) -> None:
        self.gpu = gpu
        self.kernels = Kernels()
        self.utils = _Utils(self)
        self.num_warps = 0
        self._launchers = launchers
        self.get_device_capability = lambda device=0: (gpu.major, gpu.minor)

    def launcher_cls(self, source: Any, metadata: Any) -> "_Launcher":
        """Called right before `load_binary` of the same kernel, which is not told its number of warps."""
        if self._launchers is not None:
            self._launchers(source, metadata)
        self.num_warps = metadata.num_warps
        return _Launcher(self.gpu)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(self.gpu.backend, self.gpu.arch, self.gpu.warp_size)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None: ...
    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(1, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: torch.Tensor) -> None: ...
    def get_benchmarker(self) -> Callable[..., Any]:
        return once


class _Utils:
    def __init__(self, owner: DescribedDriver) -> None:
        self._owner = owner

    def get_device_properties(self, device: int) -> dict[str, int]:
        gpu = self._owner.gpu
        return {
            "max_shared_mem": gpu.shared_memory_per_block_optin,
            "max_num_regs": gpu.regs_per_multiprocessor,
            "multiprocessor_count": gpu.multi_processor_count,
            "warpSize": gpu.warp_size,
            "sm_clock_rate": gpu.clock_rate,
            "mem_clock_rate": gpu.memory_clock_rate,
            "mem_bus_width": gpu.memory_bus_width,
        }

    def load_binary(self, name: str, image: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """Module, function, registers, spilled 4-byte words and most threads, as the driver has them."""
        numbers = self._owner.kernels.add(image, shared, self._owner.num_warps)
        registers, spilled = (int(numbers.get(key, 0)) for key in ("registers", "spill_bytes"))
        return 1, 1, registers, spilled // 4, self._owner.gpu.max_threads_per_block

    def cuOccupancyMaxActiveClusters(self, *args: Any) -> int:  # noqa: N802
        return self._owner.gpu.multi_processor_count

    def unload_module(self, module: int) -> None: ...
    def set_printf_fifo_size(self, size: int) -> None: ...


class _Launcher:
    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def __call__(self, *args: Any) -> None:
        """Raise what the real one would for this grid and these tensors."""
        if self._gpu.backend == "cuda":
            for blocks, most in zip(args[:3], _MOST_BLOCKS, strict=True):
                if blocks > most:
                    raise RuntimeError(f"Triton Error [CUDA]: invalid argument (grid {args[:3]}, most {_MOST_BLOCKS})")
        for index, value in enumerate(args[_LAUNCH_ARGUMENTS:]):
            if isinstance(value, torch.Tensor) and value.device.type == "cpu" and not value.is_pinned():
                raise ValueError(f"Pointer argument (at {index}) cannot be accessed from Triton (cpu tensor?)")


def once(call: Callable[[], object], *args: Any, quantiles: Any = None, **kwargs: Any) -> Any:
    """Stands for a benchmark: one call, so that it is compiled, and a time that prefers nothing."""
    call()
    return [1.0] * len(quantiles) if quantiles else 1.0


@contextmanager
def active(described: DescribedDriver, benchmark: Callable[..., Any] = once) -> Iterator[None]:
    """Within, Triton compiles and launches by this driver and times by this function."""
    before = driver._active
    max_shared_mem.cache_clear()
    with ExitStack() as stack:
        names = ("do_bench", "do_bench_cudagraph")
        stack.enter_context(replaced(triton.testing, dict.fromkeys(names, benchmark)))
        described.get_benchmarker = lambda: benchmark  # type: ignore[method-assign]
        driver.set_active(described)
        try:
            yield
        finally:
            driver._active = before
            max_shared_mem.cache_clear()


def nvidia_driver() -> Any:
    """Triton's module for NVIDIA's driver; None where that is not installed."""
    from triton.backends.nvidia import driver as nvidia

    try:
        nvidia.library_dirs()
    except (AssertionError, OSError, SubprocessError):
        return None
    return nvidia


def real_launchers(gpu: Gpu) -> Callable[[Any, Any], Any] | None:
    """What compiles the launcher of a kernel, so that no run has to; None where it cannot be had.

    A launcher is a small C library, linked with the vendor's driver and kept in Triton's cache by its text.
    """
    nvidia = nvidia_driver() if gpu.backend == "cuda" else None
    return None if nvidia is None else nvidia.CudaLauncher
