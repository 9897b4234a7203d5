# Exported by Kernwright 0.1.0: node 1 of run 20261122-rmsnorm-backward-890a, by Claude (Anthropic).
# problem: rmsnorm_backward (86bc5d4e2c45639c48db0b487236ca9d)
# verdict: verified
# speedup: 1.588x [1.581, 1.595], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: input 1 keeps what its draws have in common: its numbers are positive, away from 0
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 86446dae705af16b33e233f475d3b705eec25954a8a357b6a629d2edb3824103
# workload: language {'rows': 8192, 'columns': 4096}
# workload: narrow {'rows': 131072, 'columns': 256}
# workload: middle {'rows': 16384, 'columns': 1024}
# use: from this file import ModelNew, in the place of Model

"""CUDA: rows arrive in shared memory by cp.async, some ahead, while others are worked on; dw summed in registers.

A group of threads takes a row: a block for wide rows, a warp for narrow ones. Both sums of a row are taken at once, as
mean(weighted * normed) = inverse * mean(weighted * x). Shares of dw are added by a second kernel in a fixed order.
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


STAGES = 3
THREADS = 512
ASYNC = True
KNOBS = {"STAGES": [2, 3, 4], "THREADS": [256, 512]}

SOURCE = r"""
#if ASYNC
__device__ inline void fetch(float4* shared, const float4* global) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory"); }
#else
__device__ inline void fetch(float4* shared, const float4* global) { *shared = *global; }
__device__ inline void commit() {}
__device__ inline void wait() {}
#endif

// GROUP threads take a row of GROUP * EACH float4; a thread reads only what it has fetched itself.
template <int GROUP, int EACH>
__device__ inline void backward(const float4* x, const float4* weight, const float4* dy, float4* dx, float* parts,
                                int rows) {
    extern __shared__ float4 memory[];
    __shared__ float2 sums[2][THREADS / 32];
    constexpr int GROUPS = THREADS / GROUP, PIECES = GROUP * EACH;
    const int group = threadIdx.x / GROUP, me = threadIdx.x % GROUP, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4* mine = memory + threadIdx.x;  // [stage][x or dy][EACH][THREADS]
    float4 scale[EACH], total[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        scale[i] = weight[i * GROUP + me];
        total[i] = make_float4(0.f, 0.f, 0.f, 0.f);
    }
    const int step = gridDim.x * GROUPS;
    int ahead = blockIdx.x * GROUPS + group;
    auto request = [&](int stage) {
        if (ahead < rows) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const long long at = (long long)ahead * PIECES + i * GROUP + me;
                fetch(mine + (stage * 2 * EACH + i) * THREADS, x + at);
                fetch(mine + (stage * 2 * EACH + EACH + i) * THREADS, dy + at);
            }
        }
        commit();
        ahead += step;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) request(stage);
    int stage = 0, turn = 0;
    for (int base = blockIdx.x * GROUPS; base < rows; base += step, turn ^= 1) {
        request(stage == 0 ? STAGES - 1 : stage - 1);
        wait();
        const int row = base + group;
        const bool live = row < rows;
        float4 value[EACH], slope[EACH];
        float square = 0.f, product = 0.f;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const float4 none = make_float4(0.f, 0.f, 0.f, 0.f);
            value[i] = live ? mine[(stage * 2 * EACH + i) * THREADS] : none;
            slope[i] = live ? mine[(stage * 2 * EACH + EACH + i) * THREADS] : none;
            square += value[i].x * value[i].x + value[i].y * value[i].y + value[i].z * value[i].z +
                      value[i].w * value[i].w;
            product += slope[i].x * scale[i].x * value[i].x + slope[i].y * scale[i].y * value[i].y +
                       slope[i].z * scale[i].z * value[i].z + slope[i].w * scale[i].w * value[i].w;
        }
#pragma unroll
        for (int d = 16; d; d /= 2) {
            square += __shfl_xor_sync(~0u, square, d);
            product += __shfl_xor_sync(~0u, product, d);
        }
        if (GROUP > 32) {
            if (lane == 0) sums[turn][warp] = make_float2(square, product);
            __syncthreads();  // the other half of `sums` is written before the next one: one barrier a row
            square = product = 0.f;
#pragma unroll
            for (int i = 0; i < GROUP / 32; ++i) {
                const float2 both = sums[turn][group * (GROUP / 32) + i];
                square += both.x;
                product += both.y;
            }
        }
        const float inverse = 1.f / sqrtf(square / (PIECES * 4) + 1e-6f);
        const float mean = product * inverse / (PIECES * 4);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            float4 out;
            float normed = value[i].x * inverse;
            out.x = (slope[i].x * scale[i].x - normed * mean) * inverse;
            total[i].x += slope[i].x * normed;
            normed = value[i].y * inverse;
            out.y = (slope[i].y * scale[i].y - normed * mean) * inverse;
            total[i].y += slope[i].y * normed;
            normed = value[i].z * inverse;
            out.z = (slope[i].z * scale[i].z - normed * mean) * inverse;
            total[i].z += slope[i].z * normed;
            normed = value[i].w * inverse;
            out.w = (slope[i].w * scale[i].w - normed * mean) * inverse;
            total[i].w += slope[i].w * normed;
            if (live) __stcs(dx + (long long)row * PIECES + i * GROUP + me, out);
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i)
        ((float4*)parts)[((long long)blockIdx.x * GROUPS + group) * PIECES + i * GROUP + me] = total[i];
}

#define KERNEL(NAME, GROUP, EACH)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const float4* x, const float4* weight,               \
                                                               const float4* dy, float4* dx, float* parts, int rows) { \
        backward<GROUP, EACH>(x, weight, dy, dx, parts, rows);                                                      \
    }
KERNEL(row_4096, THREADS, 1024 / THREADS)
KERNEL(row_1024, 128, 2)
KERNEL(row_256, 32, 2)

// 32 columns a block, its warps share the rows of `parts`.
extern "C" __global__ void __launch_bounds__(1024) add_up(const float* parts, float* dw, int count, int columns) {
    __shared__ float sums[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
    float total = 0.f;
    if (column < columns)
        for (int i = warp; i < count; i += 32) total += parts[(long long)i * columns + column];
    sums[warp][lane] = total;
    __syncthreads();
    total = sums[lane][warp];
#pragma unroll
    for (int d = 16; d; d /= 2) total += __shfl_xor_sync(~0u, total, d);
    if (lane == 0 && blockIdx.x * 32 + warp < columns) dw[blockIdx.x * 32 + warp] = total;
}
"""

library = load(SOURCE, defines={"STAGES": STAGES, "THREADS": THREADS, "ASYNC": int(ASYNC)})
EACH = {4096: 1024 // THREADS, 1024: 2, 256: 2}
GROUPS = {4096: 1, 1024: THREADS // 128, 256: THREADS // 32}


class ModelNew(torch.nn.Module):
    def forward(self, x, weight, dy):
        rows, columns = x.shape
        if columns not in EACH:  # shapes that no kernel here is made for
            inverse = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)
            normed = x * inverse
            weighted = dy * weight
            dx = (weighted - normed * (weighted * normed).mean(dim=-1, keepdim=True)) * inverse
            return dx, (dy * normed).sum(dim=0)
        x, weight, dy = x.contiguous(), weight.contiguous(), dy.contiguous()
        dx, dw = torch.empty_like(x), torch.empty_like(weight)
        groups = GROUPS[columns]
        shared = STAGES * 2 * EACH[columns] * THREADS * 16
        per_sm = min(2048 // THREADS // 2, (220 << 10) // (shared + 1280))
        blocks = min(132 * max(per_sm, 1), -(-rows // groups))
        parts = x.new_empty(blocks * groups, columns)
        launch = {4096: library.row_4096, 1024: library.row_1024, 256: library.row_256}[columns]
        launch(blocks, THREADS, x, weight, dy, dx, parts, rows, shared=shared)
        library.add_up(-(-columns // 32), 1024, parts, dw, blocks * groups, columns)
        return dx, dw
