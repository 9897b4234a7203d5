"""Loads CUDA C++ kernels. With the modules that it takes, all that an export inlines; needs cuda-core to launch."""

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .cuda_compiler import compile_cubin
from .cuda_launcher import Library
from .loader_folder import loader_folder


def load(source: str, defines: Mapping[str, object] | None = None, flags: Sequence[str] = ()) -> Any:
    """Compile CUDA C++17, or find it compiled; no driver is touched before a kernel's first launch.

    `source` is the text, or the name of a file beside the caller; its kernels are `extern "C" __global__`, and
    `lib.name(grid, block, *arguments, shared=bytes)` launches one on PyTorch's current stream (see `as_parameter`).
    `flags` are NVRTC's, or nvcc's where `--nvcc` is one of them. Without a `KERNWRIGHT_TARGET` it compiles for the
    current device.

    Raises:
        RuntimeError: no compiler, the compiler's errors, or a kernel that the build stage did not make.
    """
    if "\n" not in source:
        source = (Path(sys._getframe(1).f_globals["__file__"]).parent / source).read_text()
    arch = os.environ.get("KERNWRIGHT_TARGET", "").partition(":")[2]
    if not arch:
        major, minor = import_module("torch").cuda.get_device_capability()
        arch = f"sm_{major}{minor}{'a' if major >= 9 else ''}"
    options = [f"-arch={arch}", "-std=c++17", *flags]
    options += [f"-D{name}={value}" for name, value in (defines or {}).items()]
    key = hashlib.sha256(repr((source, options)).encode()).hexdigest()[:32]
    built = os.environ.get("KERNWRIGHT_ARTIFACTS")
    folder = loader_folder()
    cubin = folder / f"{key}.cubin"
    if not cubin.exists():
        if built and "KERNWRIGHT_BUILDING" not in os.environ:
            raise RuntimeError("this load() did not run in the build stage; call it at module level, same arguments")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        compile_cubin(source, options, made := folder / f"{key}.{os.getpid()}")
        made.replace(cubin)
    if os.environ.get("KERNWRIGHT_EMULATE"):
        return import_module("kernwright.languages.cuda_shim").load(source, options, cubin)
    return Library(cubin, source)
