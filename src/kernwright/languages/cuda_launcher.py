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
        self._cubin, self._source = cubin, source
        self._code: Any = None
        self._streams: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        ready: dict[Any, Any] = {}

        def launch(grid: Any, block: Any, *arguments: Any, shared: int = 0) -> None:
            device = torch.cuda.current_device()
            if (key := (grid, block, shared, device)) not in ready:
                ready[key] = self._prepared(name, *key)
            start, config, kernel, sizes, kinds = ready[key]
            start(self._stream(device), config, kernel, *as_parameters(name, arguments, sizes, kinds, "cuda"))

        setattr(self, name, launch)
        return launch

    def _stream(self, device: int) -> Any:
        handle = torch._C._cuda_getCurrentRawStream(device)
        if handle not in self._streams:
            self._streams[handle] = import_module("cuda.core").Stream.from_handle(handle or 1)  # 1: the default one
        return self._streams[handle]

    def _prepared(self, name: str, grid: Any, block: Any, shared: int, device: int) -> tuple[Any, ...]:
        core, driver = import_module("cuda.core"), import_module("cuda.bindings.driver")
        self._code = self._code or core.ObjectCode.from_cubin(str(self._cubin))
        try:
            kernel = self._code.get_kernel(name)
        except Exception as error:
            raise AttributeError(f'there is no extern "C" __global__ function {name} in it ({error})') from None
        used = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        static = driver.cuKernelGetAttribute(used, kernel.handle, device)[1]
        limit = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        room = driver.cuDeviceGetAttribute(limit, device)[1] - static
        if shared > room:
            raise RuntimeError(f"{name} asks for {shared} bytes of shared memory; this device has {room} for it")
        if shared + static > 48 << 10:  # more must be asked for
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.cuKernelSetAttribute(most, room, kernel.handle, device)
        sizes = [size for _, size in kernel.arguments_info]
        kinds = declared_kinds(self._source, name, len(sizes))
        return core.launch, core.LaunchConfig(grid=grid, block=block, shmem_size=shared), kernel, sizes, kinds
