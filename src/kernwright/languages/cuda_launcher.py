"""Launches the kernels of a cubin. Imports nothing of Kernwright; an export can inline it."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from .cuda_parameters import as_parameters, declared_kinds


class Library:
    """`library.name(grid, block, *arguments, shared=0)`: grid and block are ints or tuples, `shared` is in bytes."""

    def __init__(self, cubin: Path, source: str) -> None:
        self._cubin, self._source, self._code = cubin, source, None
        self._streams: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        ready: dict[Any, Any] = {}

        def launch(grid: Any, block: Any, *arguments: Any, shared: int = 0) -> None:
            device = torch.cuda.current_device()
            key = (grid, block, shared, device)
            if key not in ready:
                ready[key] = self._prepared(name, *key)
            start, config, kernel, sizes, kinds = ready[key]
            start(self._stream(device), config, kernel, *as_parameters(name, arguments, sizes, kinds, "cuda"))

        setattr(self, name, launch)
        return launch

    def _stream(self, device: int) -> Any:
        handle = torch._C._cuda_getCurrentRawStream(device)
        if handle not in self._streams:
            # 1 is the driver's name for the legacy default stream, which PyTorch calls 0.
            self._streams[handle] = import_module("cuda.core").Stream.from_handle(handle or 1)
        return self._streams[handle]

    def _prepared(self, name: str, grid: Any, block: Any, shared: int, device: int) -> tuple[Any, ...]:
        core, driver = import_module("cuda.core"), import_module("cuda.bindings.driver")
        self._code = self._code or core.ObjectCode.from_cubin(str(self._cubin))
        try:
            kernel = self._code.get_kernel(name)
        except Exception as error:
            raise AttributeError(f'there is no extern "C" __global__ function {name} in it ({error})') from None
        attributes = driver.CUfunction_attribute
        static = driver.cuKernelGetAttribute(attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.handle, device)[1]
        room = torch.cuda.get_device_properties(device).shared_memory_per_block_optin - static
        if shared > room:
            raise RuntimeError(f"{name} asks for {shared} bytes of shared memory; this device has {room} for it")
        if shared + static > 48 << 10:  # more must be asked for
            most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.cuKernelSetAttribute(most, room, kernel.handle, device)
        sizes = [size for _, size in kernel.arguments_info]
        config = core.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        return core.launch, config, kernel, sizes, declared_kinds(self._source, name, len(sizes))
