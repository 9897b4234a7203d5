"""Files that Inductor wrote: they compile when they are imported, and bring launchers of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch._inductor.config
from torch._dynamo.device_interface import CudaInterface
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from .described_gpu import Gpu, answers, replaced


@contextmanager
def compiled_only(gpu: Gpu) -> Iterator[None]:
    """Within, every configuration of such kernels is compiled, in this process, and none is launched or timed."""
    asked = {name: value for name, value in answers(gpu).items() if name in vars(CudaInterface)}
    known = {name: value if isinstance(value, type) else staticmethod(value) for name, value in asked.items()}
    known |= {
        "exchange_device": staticmethod(lambda device: 0),
        "maybe_exchange_device": staticmethod(lambda device: 0),
        "get_raw_stream": staticmethod(lambda device: 0),
    }
    with (
        torch._inductor.config.patch(use_static_cuda_launcher=False, compile_threads=1),
        replaced(CudaInterface, known),
        replaced(triton_helpers, {"set_driver_to_gpu": lambda: None}),
        replaced(CachingAutotuner, {"run": _compile}),
    ):
        yield


def _compile(kernel: Any, *args: Any, **kwargs: Any) -> None:
    """Instead of `CachingAutotuner.run`, for a kernel that was not compiled when it was defined."""
    if not kernel.launchers:
        kernel.precompile()
