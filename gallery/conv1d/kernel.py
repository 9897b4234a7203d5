# Exported by Kernwright 0.1.0: node 4 of run 20261122-conv1d-49d6, by Claude (Anthropic).
# problem: conv1d (0b423454ce4b54be6dbcb67108a35387)
# verdict: verified
# speedup: 3.634x [3.620, 3.648], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 948372668ab0b4ec13852fe3c1753090d3b7a1485b151d2fca77f810ec1ac3a6
# workload: published {'batch': 2048, 'channels': 96, 'filters': 96, 'length': 200}
# use: from this file import ModelNew, in the place of Model

"""CUDA: three products of the unshifted sample, outputs added one position apart; bulk copies in and out.

What a tap shifts is its product, not its input: out[p] = Z0[p - 1] + Z1[p] + Z2[p + 1], and a lane's neighbours have
those numbers. So a sample is read as it lies (its rows of 400 bytes are free of bank conflicts under ldmatrix.trans),
whole by one bulk copy. A warp keeps the weights of 16 filters in registers; its 6400 bytes leave by one bulk copy.
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


GROUPS = 2
STAGES = 4
AHEAD = 1
KNOBS = {"GROUPS": [1, 2], "STAGES": [2, 3, 4], "AHEAD": [0, 1]}

SOURCE = r"""
#include <cuda_fp16.h>
#define CHANNELS 96
#define LENGTH 200
#define TILES 25  // of eight positions
#define WARPS (6 * GROUPS)
#define THREADS (32 * WARPS)
#define SAMPLE (CHANNELS * LENGTH)
typedef unsigned long long Barrier;

// DEVICE BEGIN
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done) : "r"(place(b)), "r"(parity) : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)) : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(place(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ __forceinline__ void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void load4(unsigned* r, const __half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place(p)) : "memory");
}
__device__ __forceinline__ void product(float* d, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// DEVICE END

__device__ __forceinline__ void load_tile(unsigned (*b)[4], const __half* from) {
#pragma unroll
    for (int i = 0; i < 3; ++i) load4(b[i], from + i * 32 * LENGTH);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) convolve(const __half* x, const __half* weight,
                                                                  const __half* bias, __half* out, int batch) {
    extern __shared__ __align__(128) uint4 memory[];
    __shared__ Barrier full[STAGES];
    __shared__ unsigned readers[STAGES];
    __half* ring = (__half*)memory;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    auto request = [&](int i) {
        const int sample = blockIdx.x + i * gridDim.x, slot = i % STAGES;
        if (sample < batch) {
            expect(&full[slot], SAMPLE * 2);
            bulk_load(ring + slot * SAMPLE, x + (size_t)sample * SAMPLE, SAMPLE * 2, &full[slot]);
        }
    };
    if (tid == 0) {
        for (int i = 0; i < STAGES; ++i) {
            init(&full[i], 1);
            readers[i] = 0;
        }
        inits_seen();
        for (int i = 0; i < STAGES; ++i) request(i);
    }
    __syncthreads();
    const int group = warp / 6, filter0 = warp % 6 * 16, g = lane / 4, t = lane % 4;
    __half* staged = ring + STAGES * SAMPLE + warp * 16 * LENGTH;
    unsigned a[3][6][4];
#pragma unroll
    for (int k = 0; k < 6; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // two channels of three taps are three words
            const int row = filter0 + g + i % 2 * 8, channel = k * 16 + i / 2 * 8 + t * 2;
            const unsigned* w = (const unsigned*)weight + (row * CHANNELS + channel) / 2 * 3;
            const unsigned w0 = w[0], w1 = w[1], w2 = w[2];
            a[0][k][i] = (w0 & 0xffffu) | (w1 & 0xffff0000u);
            a[1][k][i] = w0 >> 16 | w2 << 16;
            a[2][k][i] = (w1 & 0xffffu) | (w2 & 0xffff0000u);
        }
    const float bias_low = __half2float(bias[filter0 + g]), bias_high = __half2float(bias[filter0 + g + 8]);
    const int before = (lane & ~3) | ((lane + 3) & 3), behind = (lane & ~3) | ((lane + 1) & 3);

    int i = group;
    for (int sample = blockIdx.x + group * gridDim.x; sample < batch; sample += GROUPS * gridDim.x, i += GROUPS) {
        const int slot = i % STAGES;
        const __half* from = ring + slot * SAMPLE + lane * LENGTH;
        if (lane == 0) stores_read();  // what was staged before has left
        __syncwarp();
        wait(&full[slot], i / STAGES & 1);
        float last[2] = {0.f, 0.f};               // Z0 of the position before this tile, in lanes of t = 3
        float2 held[2] = {{0.f, 0.f}, {0.f, 0.f}};  // the tile before, whose last number lacks its Z2
        auto tile = [&](unsigned (*b)[4], int j) {
            float z[3][4];
#pragma unroll
            for (int tap = 0; tap < 3; ++tap) {
                z[tap][0] = z[tap][1] = tap == 1 ? bias_low : 0.f;
                z[tap][2] = z[tap][3] = tap == 1 ? bias_high : 0.f;
            }
#pragma unroll
            for (int k = 0; k < 6; ++k)
#pragma unroll
                for (int tap = 0; tap < 3; ++tap) product(z[tap], a[tap][k], &b[k / 2][k % 2 * 2]);
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const float left = __shfl_sync(~0u, t == 3 ? last[r] : z[0][2 * r + 1], before);
                const float right = __shfl_sync(~0u, z[2][2 * r], behind);
                if (t == 3) held[r].y += right;
                if (j > 0)
                    *(__half2*)(staged + (g + 8 * r) * LENGTH + 8 * j - 8 + 2 * t) =
                        __floats2half2_rn(held[r].x, held[r].y);
                last[r] = z[0][2 * r + 1];
                held[r].x = left + z[1][2 * r] + z[2][2 * r + 1];
                held[r].y = z[0][2 * r] + z[1][2 * r + 1] + (t == 3 ? 0.f : right);
            }
        };
        unsigned one[3][4];
        load_tile(one, from);
#if AHEAD
        unsigned two[3][4];
#pragma unroll 1
        for (int j = 0; j < TILES - 1; j += 2) {
            load_tile(two, from + (j + 1) * 8);
            tile(one, j);
            load_tile(one, from + (j + 2) * 8);
            tile(two, j + 1);
        }
#else
#pragma unroll 1
        for (int j = 0; j < TILES - 1; ++j) {
            tile(one, j);
            load_tile(one, from + (j + 1) * 8);
        }
#endif
        __syncwarp();
        if (lane == 0) {  // all that this warp needs is in registers; the last of six asks for another sample
            __threadfence_block();
            if (atomicAdd(&readers[slot], 1u) % 6 == 5) {
                __threadfence_block();
                request(i + STAGES);
            }
        }
        tile(one, TILES - 1);
#pragma unroll
        for (int r = 0; r < 2; ++r)
            *(__half2*)(staged + (g + 8 * r) * LENGTH + LENGTH - 8 + 2 * t) =
                __floats2half2_rn(held[r].x, held[r].y);
        to_copies();
        __syncwarp();
        if (lane == 0) bulk_store(out + (size_t)sample * SAMPLE + filter0 * LENGTH, staged, 16 * LENGTH * 2);
    }
    if (lane == 0) stores_done();
}
"""

library = load(SOURCE, defines={"GROUPS": GROUPS, "STAGES": STAGES, "AHEAD": AHEAD})


class ModelNew(torch.nn.Module):
    def __init__(self, channels: int, filters: int, width: int = 3) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, filters, width, padding=width // 2)

    def forward(self, x):
        weight = self.conv.weight
        if weight.shape != (96, 96, 3) or x.shape[1:] != (96, 200) or x.dtype != torch.float16:
            return self.conv(x)
        x, weight = x.contiguous(), weight.contiguous()
        if x.data_ptr() % 16 or weight.data_ptr() % 4:
            return self.conv(x)
        out = torch.empty_like(x)
        shared = (STAGES * 96 + GROUPS * 96) * 200 * 2
        blocks = min(x.shape[0], 132)
        library.convolve(blocks, 192 * GROUPS, x, weight, self.conv.bias, out, x.shape[0], shared=shared)
        return out
