"""Files that Inductor wrote: they compile when they are imported, and bring launchers of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch._inductor.config
from torch._dynamo.device_interface import CudaInterface
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from .described_gpu import answers, replaced
from .gpus import Gpu


@contextmanager
def undriven(gpu: Gpu) -> Iterator[None]:
    """Within, such a file is imported without a driver of a GPU, and compiles in this process."""
    asked = {name: value for name, value in answers(gpu).items() if name in vars(CudaInterface)}
    known = {name: value if isinstance(value, type) else staticmethod(value) for name, value in asked.items()}
    known |= dict.fromkeys(("exchange_device", "maybe_exchange_device", "get_raw_stream"), staticmethod(_zero))
    with (
        torch._inductor.config.patch(use_static_cuda_launcher=False, compile_threads=1),
        replaced(CudaInterface, known),
        replaced(triton_helpers, {"set_driver_to_gpu": lambda: None}),
    ):
        yield


@contextmanager
def compiled_only(gpu: Gpu) -> Iterator[None]:
    """As `undriven`; every configuration of its kernels is compiled, and none is launched or timed."""
    with undriven(gpu), replaced(CachingAutotuner, {"run": _compile}):
        yield


def _zero(device: int) -> int:
    return 0


def _compile(kernel: Any, *args: Any, **kwargs: Any) -> None:
    """Instead of `CachingAutotuner.run`, for a kernel that was not compiled when it was defined."""
    if not kernel.launchers:
        kernel.precompile()
