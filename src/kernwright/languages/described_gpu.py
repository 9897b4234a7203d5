"""Enough of `torch.cuda` for code that asks about its device before it launches, where there is none.

What a kernel is compiled for depends on such questions: how many multiprocessors, how much shared memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from .gpus import Gpu

_ABSENT = object()


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
