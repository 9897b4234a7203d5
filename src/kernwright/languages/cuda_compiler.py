"""CUDA C++ to a cubin by NVRTC or nvcc, without a device. Imports nothing of Kernwright; an export can inline it."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module, util
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory

_LIMITS = "FLT_MAX=3.402823466e+38f FLT_MIN=1.175494351e-38f FLT_EPSILON=1.192092896e-07f INT_MAX=2147483647 \
INT_MIN=(-INT_MAX-1) UINT_MAX=4294967295U DBL_MAX=1.7976931348623157e+308 DBL_EPSILON=2.2204460492503131e-16 \
INFINITY=__int_as_float(0x7f800000) NAN=__int_as_float(0x7fffffff) M_PI=3.14159265358979323846"
_HEADERS = [f"{n}.h".encode() for n in "math stdint float limits stdlib stdio assert stddef string".split()]
_HEADERS += [b"c" + name[:-2] for name in _HEADERS]
"""NVRTC comes without the C library's headers; what a kernel needs of them is given to it under their names."""


def compile_cubin(source: str, options: Sequence[str], cubin: Path) -> None:
    """Write `cubin`, and the assembler's report beside it as `.ptxas`.

    NVRTC compiles, unless `--nvcc` is among the options, it is not installed, or the source has parts for the host.
    Raises RuntimeError: there is no compiler, or what it says is wrong.
    """
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path=environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin")
    try:
        log = "" if "--nvcc" in options else _nvrtc(source, options, cubin)
    except (ImportError, RuntimeError) as error:
        log = f"cannot open NVRTC ({error}); pip install cuda-bindings nvidia-cuda-nvrtc, or install nvcc"
    if cubin.exists():
        return
    if nvcc is None or (log and not re.search(r"cannot open|in JIT mode", log)):
        raise RuntimeError(f"NVRTC failed:\n{log[:8000]}" if log else "there is no nvcc; install it or set CUDA_HOME")
    with TemporaryDirectory() as folder:
        Path(folder, "kernel.cu").write_text(source)
        command = [nvcc, "-cubin", "-Xptxas=-v", "-include=cfloat,climits,cstdint", "-o", str(cubin), "kernel.cu"]
        command += [option for option in options if option != "--nvcc"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvcc failed with status {done.returncode}:\n{done.stderr[:8000]}")
    cubin.with_suffix(".ptxas").write_text(done.stderr)


def _nvrtc(source: str, options: Sequence[str], cubin: Path) -> str:
    nvrtc, spec = import_module("cuda.bindings.nvrtc"), util.find_spec("nvidia")
    roots = [p for place in (spec and spec.submodule_search_locations) or () for p in Path(place).glob("*/include")]
    roots.append(Path(environ.get("CUDA_HOME", "/usr/local/cuda")) / "include")
    extra = [*(f"-I{p}" for root in roots for p in (root, root / "cccl")), *(f"-D{limit}" for limit in _LIMITS.split())]
    extra += ["--pre-include=cstdint", "--ptxas-options=-v", "--diag-suppress=47"]
    standard = [b"#pragma once\n#include <cuda/std/cstdint>\n"] * len(_HEADERS)
    program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", len(_HEADERS), standard, _HEADERS)[1]
    status = nvrtc.nvrtcCompileProgram(program, len(options) + len(extra), [o.encode() for o in (*options, *extra)])[0]
    nvrtc.nvrtcGetProgramLog(program, log := bytearray(nvrtc.nvrtcGetProgramLogSize(program)[1]))
    if status:
        return log.decode(errors="replace").strip("\0 \n") or str(status)
    nvrtc.nvrtcGetCUBIN(program, code := bytearray(nvrtc.nvrtcGetCUBINSize(program)[1]))
    cubin.with_suffix(".ptxas").write_bytes(log.strip(b"\0 \n"))
    cubin.write_bytes(code)
    return ""
