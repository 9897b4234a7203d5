"""GPUs by target: what code may ask about one before it launches anything. Standard library only."""

import json
import os
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU. The names are those of `torch.cuda.get_device_properties`."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    total_memory: int
    L2_cache_size: int
    gcnArchName: str = ""  # noqa: N815
    warp_size: int = 32
    shared_memory_per_block: int = 48 << 10
    regs_per_multiprocessor: int = 65536
    max_threads_per_multi_processor: int = 2048
    max_threads_per_block: int = 1024
    clock_rate: int = 1_980_000
    """In kHz."""
    memory_clock_rate: int = 3_201_000
    """In kHz."""
    memory_bus_width: int = 6144
    """In bits."""
    is_integrated: int = 0
    is_multi_gpu_board: int = 0

    @property
    def backend(self) -> str:
        """`cuda` or `hip`."""
        return "hip" if self.gcnArchName else "cuda"

    @property
    def arch(self) -> int | str:
        """90 for sm_90a; `gfx942`."""
        return self.gcnArchName.partition(":")[0] or self.major * 10 + self.minor


def _nvidia(name: str, cc: int, count: int, shared_kib: tuple[int, int], gb: int, l2_mib: int, **rest: Any) -> Gpu:
    return Gpu(
        name=f"NVIDIA {name}",
        major=cc // 10,
        minor=cc % 10,
        multi_processor_count=count,
        shared_memory_per_block_optin=shared_kib[0] << 10,
        shared_memory_per_multiprocessor=shared_kib[1] << 10,
        total_memory=gb * 10**9,
        L2_cache_size=l2_mib << 20,
        **rest,
    )


def _amd(name: str, arch: str, count: int, lds_kib: int, gb: int, **rest: Any) -> Gpu:
    return Gpu(
        name=f"AMD Instinct {name}",
        major=9,
        minor=5 if arch == "gfx950" else 4 if arch == "gfx942" else 0,
        gcnArchName=f"{arch}:sramecc+:xnack-",
        multi_processor_count=count,
        shared_memory_per_block=lds_kib << 10,
        shared_memory_per_block_optin=lds_kib << 10,
        shared_memory_per_multiprocessor=lds_kib << 10,
        total_memory=gb * 10**9,
        L2_cache_size=(8 if arch == "gfx90a" else 4) << 20,
        warp_size=64,
        regs_per_multiprocessor=131072,
        **rest,
    )


GPUS = {
    "cuda:sm_75": _nvidia("T4", 75, 40, (64, 64), 16, 4, max_threads_per_multi_processor=1024),
    "cuda:sm_80": _nvidia(
        "A100-SXM4-80GB", 80, 108, (163, 164), 85, 40,
        clock_rate=1_410_000, memory_clock_rate=1_593_000, memory_bus_width=5120,
    ),
    "cuda:sm_86": _nvidia("A10", 86, 72, (99, 100), 24, 6, max_threads_per_multi_processor=1536),
    "cuda:sm_89": _nvidia("L40S", 89, 142, (99, 100), 48, 96, max_threads_per_multi_processor=1536),
    "cuda:sm_90a": _nvidia("H200", 90, 132, (227, 228), 150, 60),
    "cuda:sm_100a": _nvidia("B200", 100, 148, (227, 228), 191, 126, memory_bus_width=8192),
    "cuda:sm_103a": _nvidia("B300", 103, 148, (227, 228), 287, 126, memory_bus_width=8192),
    "cuda:sm_120a": _nvidia("GeForce RTX 5090", 120, 170, (99, 100), 34, 96, max_threads_per_multi_processor=1536),
    "rocm:gfx90a": _amd("MI250X", "gfx90a", 110, 64, 68),
    "rocm:gfx942": _amd("MI300X", "gfx942", 304, 64, 206),
    "rocm:gfx950": _amd("MI355X", "gfx950", 256, 160, 309),
}  # fmt: skip
"""By target; figures from the vendors' datasheets and programming guides."""


def gpu_of(target: str) -> Gpu | None:
    """The GPU that stands for a target; None for one unknown.

    Where the machine's own device is known, `$KERNWRIGHT_DEVICE` says what is different about it: a JSON object with
    fields of `Gpu`.
    """
    known = GPUS.get(target) or GPUS.get(f"{target}a")
    if known is None:
        return None
    told = json.loads(os.environ.get("KERNWRIGHT_DEVICE", "{}"))
    return replace(known, **{f.name: told[f.name] for f in fields(Gpu) if f.name in told})
