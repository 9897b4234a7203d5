# Exported by Kernwright 0.1.0: node 8 of run 20261122-level1-42-max-pooling-2d-100f, by Claude (Anthropic).
# problem: level1_42_Max_Pooling_2D (4dc975de586bc956a6c6eb38adb9bee9)
# verdict: verified
# speedup: 3.774x [3.761, 3.788], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle f9765426ff4df464cd152c141b87e936876fe3df40d9dc7f8f1320c5ce04a199
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""CUDA: 06's warp streams with two rows of each warp under way instead of one, and plain stores.

A warp asks for 2 KiB at a time and waits a full latency for it once a row: two rows are 64 KiB more under way an SM
at the price of sixteen registers. Smaller blocks, so that the registers of a quarter of an SM are a block.
"""

import torch
import torch.nn.functional as F

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

_SOURCES = {
    '09_two_rows_ahead.cu': r"""// Maxima of 4 x 4 with padding 1 on rows of 512: a warp has whole rows, a lane four quads of each; no barriers.
constexpr int WIDTH = 512, OUT_WIDTH = 511;

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) {
#ifdef KERNWRIGHT_ARCH
    return a > b || a != a ? a : b;
#else
    float c;
    PTX("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#endif
}

// A warp's outputs, a stream of contiguous numbers: `held` of them, not yet stored, lie before the next ones.
__device__ __forceinline__ void append(float* buffer, float*& to, int& held, const float (&v)[16], int lane) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int col = i / 4 * 128 + lane * 4 + i % 4;
        if (col < OUT_WIDTH) buffer[held + col] = v[i];
    }
    __syncwarp();
    int count = held + OUT_WIDTH, quads = count / 4, rest = count % 4;
    float left = lane < rest ? buffer[quads * 4 + lane] : 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (i * 32 + lane < quads)
            (reinterpret_cast<float4*>(to) + i * 32 + lane)[0] = reinterpret_cast<const float4*>(buffer)[i * 32 + lane];
    if (128 + lane < quads)
        (reinterpret_cast<float4*>(to) + 128 + lane)[0] = reinterpret_cast<const float4*>(buffer)[128 + lane];
    __syncwarp();
    if (lane < rest) buffer[lane] = left;
    to += quads * 4;
    held = rest;
}

// Numbers before the first aligned place are stored one by one; afterwards `to` is aligned.
__device__ __forceinline__ void begin_at(float* buffer, float*& to, int& held, const float (&v)[16], int lane) {
    int head = (4 - int(reinterpret_cast<size_t>(to) / 4 % 4)) % 4, count = OUT_WIDTH - head, rest = count % 4;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int col = i / 4 * 128 + lane * 4 + i % 4;
        if (col < head)
            to[col] = v[i];
        else if (col < OUT_WIDTH)
            buffer[col - head] = v[i];
    }
    __syncwarp();
    float left = lane < rest ? buffer[count - rest + lane] : 0.0f;
    to += head;
    for (int i = lane; i < count / 4; i += 32)
        (reinterpret_cast<float4*>(to) + i)[0] = reinterpret_cast<const float4*>(buffer)[i];
    __syncwarp();
    if (lane < rest) buffer[lane] = left;
    to += count - rest;
    held = rest;
}

__device__ __forceinline__ void load_row(float4 (&v)[4], const float* x, int row, int height, float nothing, int lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        v[i] = row >= 0 && row < height ? __ldg(reinterpret_cast<const float4*>(x + (size_t)row * WIDTH) + i * 32 + lane)
                                        : make_float4(nothing, nothing, nothing, nothing);
}

// The largest of columns col - 1 to col + 2 for each of a lane's columns.
__device__ __forceinline__ void across(float (&m)[16], const float4 (&v)[4], int lane) {
    const unsigned all = 0xffffffffu;
    const float lowest = -INFINITY;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        // The last lane's number before serves the first lane one quad on, and so on.
        float before = __shfl_sync(all, lane == 31 ? (i > 0 ? v[i > 0 ? i - 1 : 0].w : lowest) : v[i].w, (lane + 31) % 32);
        float next = __shfl_sync(all, lane == 0 ? (i < 3 ? v[i < 3 ? i + 1 : 3].x : lowest) : v[i].x, (lane + 1) % 32);
        float after = __shfl_sync(all, lane == 0 ? (i < 3 ? v[i < 3 ? i + 1 : 3].y : lowest) : v[i].y, (lane + 1) % 32);
        float a = larger(before, v[i].x), b = larger(v[i].x, v[i].y), c = larger(v[i].y, v[i].z),
              d = larger(v[i].z, v[i].w), e = larger(v[i].w, next), f = larger(next, after);
        m[i * 4] = larger(a, c), m[i * 4 + 1] = larger(b, d), m[i * 4 + 2] = larger(c, e), m[i * 4 + 3] = larger(d, f);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) pool(const float* __restrict__ x, float* __restrict__ y,
                                                              int height, int strips, int warps) {
    __shared__ __align__(16) float buffers[WARPS][WIDTH + 4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = blockIdx.x * WARPS + warp;
    if (mine >= warps) return;
    int first = mine % strips * ROWS, out_height = height - 1, end = min(out_height, first + ROWS);
    size_t plane = mine / strips;
    x += plane * height * WIDTH;
    float* to = y + plane * out_height * OUT_WIDTH + (size_t)first * OUT_WIDTH;
    float* buffer = buffers[warp];
    int held = 0;
    float ab[16], bc[16], c[16], d[16];
    float4 v[4], ahead[4], later[4];
    load_row(v, x, first - 1, height, -INFINITY, lane);
    across(d, v, lane);
    load_row(v, x, first, height, -INFINITY, lane);
    across(bc, v, lane);
    load_row(v, x, first + 1, height, -INFINITY, lane);
    load_row(ahead, x, first + 2, height, -INFINITY, lane);
    load_row(later, x, first + 1 < end ? first + 3 : height, height, -INFINITY, lane);
    across(c, v, lane);
#pragma unroll
    for (int i = 0; i < 16; ++i) ab[i] = larger(d[i], bc[i]), bc[i] = larger(bc[i], c[i]);
#pragma unroll 1
    for (int row = first; row < end; ++row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = ahead[i], ahead[i] = later[i];
        load_row(later, x, row + 2 < end ? row + 4 : height, height, -INFINITY, lane);
        across(d, v, lane);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float cd = larger(c[i], d[i]), value = larger(ab[i], cd);
            c[i] = d[i], ab[i] = bc[i], bc[i] = cd, d[i] = value;
        }
        if (row == first)
            begin_at(buffer, to, held, d, lane);
        else
            append(buffer, to, held, d, lane);
        __syncwarp();
    }
    if (lane < held) to[lane] = buffer[lane];
}
""",
}
# --- the candidate


KNOBS = {"ROWS": [16, 32, 64, 128, 256], "WARPS": [2, 4, 8]}
ROWS = 64
WARPS = 2

library = load(_SOURCES['09_two_rows_ahead.cu'], defines={"ROWS": ROWS, "WARPS": WARPS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] == 512
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = (height - 1 + ROWS - 1) // ROWS
        warps = n * c * strips
        library.pool((warps + WARPS - 1) // WARPS, 32 * WARPS, x, y, height, strips, warps)
        return y
