# Exported by Kernwright 0.1.0: node 1 of run 20261126-level2-6-conv3d-softmax-maxpool-a751, by Claude (Anthropic).
# problem: level2_6_Conv3d_Softmax_MaxPool_MaxPool (e18e949fbdb7d755d5973a827d3ff017)
# verdict: verified
# speedup: 5.385x [5.371, 5.399], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle 00067b95953a1fa8ee8e27672c42f15cb19fe6030503c055bdc6ec131ed119fe
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""CUDA: eight pixels and eight channels a thread: 64 sums, so that more warps hide each other's waits.

05 has ten warps a multiprocessor with 128 sums a thread each and does its 52 us of arithmetic in 112; here are sixteen,
at the price of as many shared loads a product as they can bear.
"""

import torch
import torch.nn as nn

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
    '10_many_warps.cu': r"""// Eight pixels by eight channels a thread, many warps.
// Convolution 3 -> 16 channels, 3 x 3 x 3, softmax over channels, maximum over 4 x 4 x 4.
constexpr int IN = 3, OUT = 16, ROWS = 2, MINE = 8, SHARES = OUT / MINE, SETS = 3, PER = 4 * (4 / ROWS) * SHARES;

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }

// PER threads a window: a share of the channels, then of the rows, then a depth.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) fused(const float* __restrict__ x,
                                                                    const float* __restrict__ weight,
                                                                    const float* __restrict__ bias, float* __restrict__ y,
                                                                    int windows, int depth, int height, int width, int pd,
                                                                    int ph, int pw) {
    __shared__ __align__(16) float w[9][3][SETS][OUT];  // slice (channel, depth tap), row tap, what columns became
    for (int i = threadIdx.x; i < 27 * OUT; i += THREADS) {
        int filter = i / 27, line = i % 27;
        const float* g = weight + i * 3;
        float* to = &w[line / 3][line % 3][0][filter];
        to[0] = g[0], to[OUT] = g[1], to[2 * OUT] = g[2];
    }
    __syncthreads();
    int mine = blockIdx.x * THREADS + threadIdx.x, window = mine / PER, part = mine % PER;
    bool there = window < windows;
    if (!there) window = windows - 1;
    int pooled = pd * ph * pw, n = window / pooled, place = window % pooled;
    int wd = place / (ph * pw), wh = place / pw % ph, ww = place % pw;
    int share = part % SHARES, row = part / SHARES % (4 / ROWS) * ROWS, slice_of = part / SHARES / (4 / ROWS);
    int area = height * width, plane = depth * area;
    const float* from = x + (size_t)n * IN * plane + (4 * wd + slice_of) * area + (4 * wh + row) * width + 4 * ww;

    float sum[ROWS][4][MINE] = {};
    float v[ROWS + 2][6], next[ROWS + 2][6];
    auto fetch = [&](int slice, float (&to)[ROWS + 2][6]) {
        const float* at = from + slice / 3 * plane + slice % 3 * area;
#pragma unroll
        for (int r = 0; r < ROWS + 2; ++r) {
            float4 four = __ldg(reinterpret_cast<const float4*>(at + r * width));
            float2 two = __ldg(reinterpret_cast<const float2*>(at + r * width + 4));
            to[r][0] = four.x, to[r][1] = four.y, to[r][2] = four.z, to[r][3] = four.w, to[r][4] = two.x, to[r][5] = two.y;
        }
    };
    fetch(0, next);
#pragma unroll 1
    for (int slice = 0; slice < IN * 3; ++slice) {
#pragma unroll
        for (int i = 0; i < 6 * (ROWS + 2); ++i) v[i / 6][i % 6] = next[i / 6][i % 6];
        fetch(min(slice + 1, IN * 3 - 1), next);
#pragma unroll
        for (int kh = 0; kh < 3; ++kh)
#pragma unroll
            for (int kw = 0; kw < 3; ++kw)
#pragma unroll
                for (int quad = 0; quad < MINE / 4; ++quad) {
                    float4 f = *reinterpret_cast<const float4*>(&w[slice][kh][kw][share * MINE + quad * 4]);
#pragma unroll
                    for (int r = 0; r < ROWS; ++r)
#pragma unroll
                        for (int p = 0; p < 4; ++p) {
                            float value = v[r + kh][p + kw];
                            sum[r][p][quad * 4] += value * f.x;
                            sum[r][p][quad * 4 + 1] += value * f.y;
                            sum[r][p][quad * 4 + 2] += value * f.z;
                            sum[r][p][quad * 4 + 3] += value * f.w;
                        }
                }
    }
    float best[MINE], shift[MINE];
#pragma unroll
    for (int c = 0; c < MINE; ++c) shift[c] = bias[share * MINE + c];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        float value[4][MINE];
#pragma unroll
        for (int c = 0; c < MINE; ++c) {
            for (int p = 0; p < 4; ++p) value[p][c] = sum[r][p][c] + shift[c];
        }
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            float most = value[p][0], total = 0;
#pragma unroll
            for (int c = 1; c < MINE; ++c) most = larger(most, value[p][c]);
#pragma unroll
            for (int step = 1; step < SHARES; step *= 2) most = larger(most, __shfl_xor_sync(0xffffffffu, most, step));
#pragma unroll
            for (int c = 0; c < MINE; ++c) total += value[p][c] = __expf(value[p][c] - most);
#pragma unroll
            for (int step = 1; step < SHARES; step *= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
            float scale = 1.0f / total;
#pragma unroll
            for (int c = 0; c < MINE; ++c)
                best[c] = r + p ? larger(best[c], value[p][c] * scale) : value[p][c] * scale;
        }
    }
#pragma unroll
    for (int step = SHARES; step < PER; step *= 2)
#pragma unroll
        for (int c = 0; c < MINE; ++c) best[c] = larger(best[c], __shfl_xor_sync(0xffffffffu, best[c], step));
    if (!there || part >= SHARES) return;
    float* to = y + ((size_t)n * OUT + share * MINE) * pooled + place;
#pragma unroll
    for (int c = 0; c < MINE; ++c) to[(size_t)c * pooled] = best[c];
}
""",
}
# --- the candidate


KNOBS = {"THREADS": [64, 128, 256], "BLOCKS": [3, 4]}
THREADS = 128
BLOCKS = 4

library = load(_SOURCES['10_many_warps.cu'], defines={"THREADS": THREADS, "BLOCKS": BLOCKS})


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool_kernel_size)
        self.pool2 = nn.MaxPool3d(pool_kernel_size)
        self.plain = (in_channels, out_channels, kernel_size, pool_kernel_size) == (3, 16, 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 5 and x.dtype == torch.float32 and x.shape[-1] % 4 == 0 and min(x.shape[2:]) >= 6
        if not self.plain or not fits or x.numel() >= 2**31:
            return self.pool2(self.pool1(torch.softmax(self.conv(x), dim=1)))
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        pd, ph, pw = (depth - 2) // 4, (height - 2) // 4, (width - 2) // 4
        y = x.new_empty(n, 16, pd, ph, pw)
        windows = n * pd * ph * pw
        blocks = (windows * 16 + THREADS - 1) // THREADS
        library.fused(
            blocks, THREADS, x, self.conv.weight, self.conv.bias, y, windows, depth, height, width, pd, ph, pw
        )
        return y
