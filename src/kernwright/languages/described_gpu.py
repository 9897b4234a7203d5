"""GPUs that are described, not there: enough of `torch.cuda` for code that asks about its device before it launches.

A build has no device, yet what a kernel is compiled for depends on such questions (how many multiprocessors, how
much shared memory). Where the machine's own device is known, `$KERNWRIGHT_DEVICE` says what is different about it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

_ABSENT = object()


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
    """The GPU that stands for a target, with what `$KERNWRIGHT_DEVICE` (a JSON object) says; None for one unknown."""
    known = GPUS.get(target) or GPUS.get(f"{target}a")
    if known is None:
        return None
    told = json.loads(os.environ.get("KERNWRIGHT_DEVICE", "{}"))
    return replace(known, **{f.name: told[f.name] for f in fields(Gpu) if f.name in told})


class Stream:
    """A stream on which nothing ever waits."""

    cuda_stream = stream_id = device_index = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.device = torch.device("cuda", 0)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: object) -> None: ...
    def synchronize(self) -> None: ...
    def wait_stream(self, stream: Any) -> None: ...
    def wait_event(self, event: Any) -> None: ...
    def query(self) -> bool:
        return True

    def record_event(self, event: Any = None) -> Any:
        return event or Event()


class Event:
    """An event that has always happened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def record(self, stream: Any = None) -> None: ...
    def wait(self, stream: Any = None) -> None: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds; the same for whatever is measured, so that no choice follows from it."""
        return 1.0


def _constant(value: Any) -> Any:
    """A function of its own each time: PyTorch's compiler keeps rules by function, and wants no two for one."""
    return lambda *args, **kwargs: value


def _context(*args: Any, **kwargs: Any) -> Any:
    return nullcontext()


class _Guard:
    idx = prev_idx = 0

    def __init__(self, *args: Any) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


def _empty_strided(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


def answers(gpu: Gpu) -> dict[str, Any]:
    """What `torch.cuda` says and does while the GPU is described."""
    stream = Stream()
    silent = "init _lazy_init set_device synchronize empty_cache set_stream manual_seed manual_seed_all seed seed_all"
    silent += " ipc_collect reset_peak_memory_stats set_per_process_memory_fraction"
    zero = "current_device memory_allocated max_memory_allocated memory_reserved max_memory_reserved"
    return {
        **{name: _constant(None) for name in silent.split()},
        **{name: _constant(0) for name in zero.split()},
        "is_available": _constant(True),
        "is_initialized": _constant(True),
        "device_count": _constant(1),
        "is_bf16_supported": _constant(True),
        "is_current_stream_capturing": _constant(False),
        "get_device_properties": _constant(gpu),
        "get_device_capability": _constant((gpu.major, gpu.minor)),
        "get_device_name": _constant(gpu.name),
        "mem_get_info": _constant((gpu.total_memory, gpu.total_memory)),
        "current_stream": _constant(stream),
        "default_stream": _constant(stream),
        "stream": _context,
        "Stream": Stream,
        "Event": Event,
        **{name: type(name, (_Guard,), {}) for name in ("device", "device_of", "_DeviceGuard")},
        "_exchange_device": _constant(0),
        "_maybe_exchange_device": _constant(0),
    }


_NATIVE = {
    "_cuda_getDevice": _constant(0),
    "_cuda_setDevice": _constant(None),
    "_cuda_exchangeDevice": _constant(0),
    "_cuda_maybeExchangeDevice": _constant(0),
    "_cuda_getDeviceCount": _constant(1),
    "_cuda_synchronize": _constant(None),
    "_cuda_getCurrentRawStream": _constant(0),
    "_cuda_isInBadFork": False,
}
"""What generated code and PyTorch itself call below `torch.cuda`."""


@contextmanager
def described(gpu: Gpu) -> Iterator[None]:
    """Within, `torch.cuda` speaks of this GPU. Nothing can be computed on it."""
    with (
        replaced(torch.cuda, answers(gpu)),
        replaced(torch._C, _NATIVE),
        replaced(torch._C._dynamo.guards, {"_empty_strided_cuda": _empty_strided}),
    ):
        yield


@contextmanager
def replaced(owner: Any, attributes: dict[str, Any]) -> Iterator[None]:
    """Within, `owner` has these attributes, whether or not it had them before."""
    before = {name: vars(owner).get(name, _ABSENT) for name in attributes}
    for name, value in attributes.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
