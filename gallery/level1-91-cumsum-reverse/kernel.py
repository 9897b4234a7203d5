# Exported by Kernwright 0.1.0: node 8 of run 20261122-level1-91-cumsum-reverse-2ec0, by Claude (Anthropic).
# problem: level1_91_cumsum_reverse (7267f073c61a695c6eebb0600ba7ffe0)
# verdict: verified
# speedup: 3.113x [3.101, 3.124], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 3fc9709fefa515f71d18b94d8af8c1e1fb5d236af63c770b72b5d9084012b4b9
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""CUDA: flip-cumsum-flip as one scan: a block a row, all in registers at once, plain loads and stores.

As 06 without its ring: other blocks' loads run while this one scans, as in a copy, whose many blocks nobody keeps
together. One barrier a row; a thread has eight quads, so that two blocks of 1024 threads are resident.
"""

import torch

# --- the loader, from kernwright.languages.cuda_loader
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

# --- from kernwright.languages.cuda_compiler
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
# --- from kernwright.languages.cuda_launcher
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

# --- from kernwright.languages.cuda_parameters
import ctypes
import re
from collections.abc import Sequence
from typing import Any

_INTEGERS = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
_WIDTHS: dict[str, dict[int, Any]] = {"i": _INTEGERS, "p": _INTEGERS, "f": {4: ctypes.c_float, 8: ctypes.c_double}}
_ARITHMETIC = r"\s*(?:(?:const|unsigned|signed|long|short)\s+)*(?:{})\s+\w+\s*"
_FORMS = {
    "p": r"[^*]*\*[^*]*",
    "f": _ARITHMETIC.format("float|double"),
    "i": _ARITHMETIC.format(r"int|unsigned|long|short|u?int\d+_t|size_t|bool"),
}
_NAMES = {"i": "an integer", "p": "a pointer", "f": "a float"}


def declared_kinds(source: str, name: str, count: int) -> str:
    """A letter for each of the kernel's parameters: `p` pointer, `i` integral, `f` floating, `?` not plain to see."""
    plain = re.sub(r"//.*|/\*(?s:.*?)\*/", "", source)
    found = re.search(rf"__global__[^;{{]*?\b{name}\s*\(([^)]*)\)", plain)
    declared = found[1].split(",") if found else []
    if len(declared) != count:
        return "?" * count
    return "".join(next((kind for kind, form in _FORMS.items() if re.fullmatch(form, text)), "?") for text in declared)


def as_parameters(name: str, values: Sequence[Any], sizes: Sequence[int], kinds: str, device: str) -> list[Any]:
    """What a launch takes for these values: addresses as ints, everything else as scalars of the parameters' widths.

    A tensor on `device` is its address, None a null pointer. An int or a float takes the parameter's own width, an int
    for a floating parameter becomes a float; scalars of NumPy and ctypes must have its width.

    Raises:
        TypeError: there are too many or too few, or one does not fit.
    """
    if len(values) != len(sizes):
        raise TypeError(f"{name} takes {len(sizes)} arguments after grid and block, not {len(values)}")
    try:
        return [_as_parameter(*each, device) for each in zip(values, sizes, kinds, strict=True)]
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _as_parameter(value: Any, size: int, kind: str, device: str) -> Any:
    if value is None or hasattr(value, "data_ptr"):
        if size == 8 and kind in "p?" and (value is None or value.device.type == device):
            return 0 if value is None else value.data_ptr()
    elif isinstance(value, int | float):
        form = kind if kind != "?" else "i" if isinstance(value, int) else "f"
        fits = form == "f" or (isinstance(value, int) and -1 <= value >> 8 * size - 1 <= 1)
        if fits and size in _WIDTHS[form]:
            return _WIDTHS[form][size](value)
    elif getattr(value, "nbytes", 0) == size or (hasattr(value, "value") and ctypes.sizeof(value) == size):
        return value
    what = f"a tensor on {value.device.type}" if hasattr(value, "data_ptr") else f"{type(value).__name__} {value}"
    raise TypeError(f"{what} does not fit {_NAMES.get(kind, 'a parameter')} of {size} bytes")


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
# --- from kernwright.languages.loader_folder
import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path


def loader_folder() -> Path:
    """The build stage's artefacts; elsewhere this user's folder of compiled kernels, kept from process to process.

    What lies there is loaded as code, and where temporary files are anyone can make a folder of that name first. So it
    is a folder and no link, this user's, and nobody else may write into it; else this process has a fresh one.
    """
    built = os.environ.get("KERNWRIGHT_ARTIFACTS")
    if built:
        return Path(built)
    folder = Path(tempfile.gettempdir()) / f"kernels-{os.geteuid()}"
    with suppress(OSError):  # what is there already, and whose it is, is looked at next
        folder.mkdir(mode=0o700)
    try:
        about = folder.lstat()
    except OSError:
        return _fresh_folder()
    others_write = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    mine = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not others_write
    return folder if mine else _fresh_folder()


@cache
def _fresh_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


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
# --- the candidate


KNOBS = {"THREADS": [1024, 512], "HINTS": [0, 1, 2]}
THREADS = 1024
HINTS = 0
COLUMNS = 32768
REVERSE = True

SOURCE = r"""
constexpr int WARPS = THREADS / 32, QUADS = COLUMNS / 4 / THREADS, OWN = QUADS * WARPS / 32;

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

extern "C" __global__ void __launch_bounds__(THREADS) scan_rows(const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float totals[QUADS * WARPS];
    const unsigned all = 0xffffffffu;
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    x += (size_t)blockIdx.x * COLUMNS;
    y += (size_t)blockIdx.x * COLUMNS;
    float4 v[QUADS];
    float sum[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int at = 4 * (k * THREADS + tid);
        const float4* from = reinterpret_cast<const float4*>(x + (REVERSE ? COLUMNS - 4 - at : at));
        v[k] = HINTS & 1 ? __ldcs(from) : __ldg(from);
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = turned(v[k]);
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        sum[k] = v[k].w;
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            float other = __shfl_up_sync(all, sum[k], step);
            if (lane >= step) sum[k] += other;
        }
    if (lane == 31)
#pragma unroll
        for (int k = 0; k < QUADS; ++k) totals[k * WARPS + warp] = sum[k];
    __syncthreads();
    // A lane adds up OWN totals in a row; of those, what lies before this warp's place, and all that lanes before have.
    float part = 0.0f, inside = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
        if (i == warp % OWN) inside = part;
        part += totals[lane * OWN + i];
    }
    float before = part;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(all, before, step);
        if (lane >= step) before += other;
    }
    before = __shfl_up_sync(all, before, 1);
    inside += lane ? before : 0.0f;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        float add = __shfl_sync(all, inside, (k * WARPS + warp) / OWN);
        float left = __shfl_up_sync(all, sum[k], 1);
        if (lane) add += left;
        const int at = 4 * (k * THREADS + tid);
        float4* to = reinterpret_cast<float4*>(y + (REVERSE ? COLUMNS - 4 - at : at));
        const float4 result = turned(make_float4(v[k].x + add, v[k].y + add, v[k].z + add, v[k].w + add));
        if (HINTS & 2)
            __stcs(to, result);
        else
            *to = result;
    }
}
"""
library = load(SOURCE, defines={"THREADS": THREADS, "COLUMNS": COLUMNS, "REVERSE": int(REVERSE), "HINTS": HINTS})


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = x.dim() == 2 and self.dim in (1, -1) and x.dtype == torch.float32
        if not known or x.shape[1] != COLUMNS or not x.numel():
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        library.scan_rows(x.shape[0], THREADS, x, y)
        return y
