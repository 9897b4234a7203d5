# Exported by Kernwright 0.1.0: node 3 of run 20261122-level1-40-layernorm-5df5, by Claude (Anthropic).
# problem: level1_40_LayerNorm (be6e04b642dbd6e58e7703fb5ca576aa)
# verdict: verified
# speedup: 1.503x [1.498, 1.507], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 60e6defc4f6a552355c58012bf5d79666782a9f9dc1b3f0da531024fe0dd8526
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Weights and bias stay on chip; x comes twice, from memory and 1.5 rows later from L2: no one waits.

128 blocks keep their part of the weights in registers and of the bias in shared memory. Statistics run LAG chunks
ahead of the division, so that the meeting of all blocks hides behind half a row. A warp of its own gathers the
parts; if they do not come in PATIENCE looks it goes through the row by itself: nothing can hang.
"""

import torch

# --- the loader, from kernwright.languages.cuda_loader
import hashlib
import os
import sys
import tempfile
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
    folder = Path(built) if built else Path(tempfile.gettempdir()) / f"kernels-{os.getuid()}"
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
    '04_weights_on_chip.cu': r"""// Weights in registers, the bias in shared memory; a ring of chunks of x, each seen twice: from memory, then from L2.
// PTX that the rest uses by name.
typedef unsigned long long Barrier;  // an mbarrier in shared memory

__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void arrive(Barrier* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory");
}
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
// Global to shared memory, whole and by the copy engine. SOON: what is read is the first to leave the L2 cache.
template <int SOON>
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    if (SOON) {
        unsigned long long policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
            "%4;" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b)), "l"(policy)
            : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b))
            : "memory");
    }
}
template <int SOME>
__device__ __forceinline__ void meet_some() {  // those threads of the block that work on numbers
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
}
// The kernel.
#define WARPS (CONSUMERS / 32)
#define EACH (CHUNK / 4 / CONSUMERS)

struct Spread {
    float mean, square;  // of n values: their mean, and the sum of squared distances from it
};

__device__ __forceinline__ Spread merged(Spread a, Spread b, float n) {  // n values each
    float apart = b.mean - a.mean;
    return {a.mean + 0.5f * apart, a.square + b.square + apart * apart * (0.5f * n)};
}

template <int LANES>
__device__ __forceinline__ Spread over_lanes(Spread mine, float n) {
#pragma unroll
    for (int step = 1; step < LANES; step *= 2, n *= 2.0f) {
        Spread other = {__shfl_xor_sync(0xffffffffu, mine.mean, step), __shfl_xor_sync(0xffffffffu, mine.square, step)};
        mine = merged(mine, other, n);
    }
    return mine;
}

__device__ __forceinline__ float4 minus(float4 v, float m) { return make_float4(v.x - m, v.y - m, v.z - m, v.w - m); }
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float squares_of(float4 v) { return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); }

// Takes FOURS vectors more into what is known of n vectors.
template <int FOURS>
__device__ __forceinline__ Spread taken(Spread mine, const float4* v, float n) {
    float sum = 0.0f, square = 0.0f;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) sum += sum_of(v[i]);
    const float mean = sum * (0.25f / FOURS);
#pragma unroll
    for (int i = 0; i < FOURS; ++i) square += squares_of(minus(v[i], mean));
    const float apart = mean - mine.mean, share = FOURS / (n + FOURS);
    return {mine.mean + apart * share, mine.square + square + apart * apart * (4.0f * n * share)};
}

// What a block knows of its part of a row is one 8-byte store; all bits set means that it is not there yet.
__device__ __forceinline__ void tell(unsigned long long* to, Spread s) {
    unsigned long long word = ((unsigned long long)__float_as_uint(s.mean) << 32) | __float_as_uint(s.square);
    *(volatile unsigned long long*)to = word == ~0ull ? 0x7fffffff7fffffffull : word;
}

// One warp gathers all parts of a row of `columns` numbers; if they do not come, it goes through the row by itself.
__device__ __forceinline__ Spread gathered(const unsigned long long* parts, int count, const float* row, size_t columns,
                                           int patience) {
    const int lane = threadIdx.x % 32;
    const float wide = (float)(columns / count);
    Spread mine = {0.0f, 0.0f};
    float n = 0.0f;
    bool here = true;
    for (int i = lane; i < count; i += 32, n += 1.0f) {
        unsigned long long word;
        int tries = 0;
        while ((word = *(const volatile unsigned long long*)&parts[i]) == ~0ull && ++tries < patience) __nanosleep(20);
        here = here && word != ~0ull;
        const float apart = __uint_as_float((unsigned)(word >> 32)) - mine.mean, share = 1.0f / (n + 1.0f);
        mine.mean += apart * share;
        mine.square += __uint_as_float((unsigned)word) + apart * apart * (n * share * wide);
    }
    if (__all_sync(0xffffffffu, here)) return over_lanes<32>(mine, n * wide);
    mine = {0.0f, 0.0f};
    n = 0.0f;
    const float4* all = reinterpret_cast<const float4*>(row);
#pragma unroll 1
    for (size_t i = lane; i < columns / 4; i += 32, n += 1.0f) {
        float4 v = __ldg(&all[i]);
        mine = taken<1>(mine, &v, n);
    }
    return over_lanes<32>(mine, 4.0f * n);
}

__device__ __forceinline__ float4 normed(float4 v, float mean, float scale, float4 w, float4 b) {
    return make_float4(fmaf((v.x - mean) * scale, w.x, b.x), fmaf((v.y - mean) * scale, w.y, b.y),
                       fmaf((v.z - mean) * scale, w.z, b.z), fmaf((v.w - mean) * scale, w.w, b.w));
}
__device__ __forceinline__ void put_out(float4* to, float4 v) {
    if (STREAMED)
        __stcs(to, v);
    else
        *to = v;
}

extern "C" __global__ void __launch_bounds__(CONSUMERS + 64, 1)
    layer_norm(const float* __restrict__ x, const float4* __restrict__ weight, const float4* __restrict__ bias,
               float* __restrict__ y, unsigned long long* parts, int rows, float eps, int patience) {
    extern __shared__ __align__(128) float4 room[];  // the bias, then a ring of chunks
    float4* ring = room + CHUNKS * (CHUNK / 4);
    __shared__ Barrier full[SLOTS], empty[SLOTS], ready[2];
    __shared__ Spread lanes[2][WARPS], whole[2];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, all = rows * CHUNKS;
    const size_t columns = (size_t)gridDim.x * (CHUNKS * CHUNK), mine_at = (size_t)blockIdx.x * (CHUNKS * CHUNK);
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], WARPS);
        }
        init(&ready[0], 1);
        init(&ready[1], 1);
        inits_seen();
    }
    __syncthreads();

    if (warp == WARPS) {  // asks for chunks: one for the statistics, then one that was seen LAG chunks ago
        if (lane == 0) {
            int slot = 0;
            unsigned round = 0;
            auto ready_slot = [&]() {
                if (round) wait(&empty[slot], (round & 1) ^ 1);
                expect(&full[slot], CHUNK * 4);
                return ring + slot * (CHUNK / 4);
            };
            auto from = [&](int t) { return x + t / CHUNKS * columns + mine_at + t % CHUNKS * CHUNK; };
            for (int t = 0; t < all + LAG; ++t) {
                if (t < all) {
                    float4* to = ready_slot();
                    bulk_load<0>(to, from(t), CHUNK * 4, &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                }
                if (t >= LAG) {
                    float4* to = ready_slot();
                    bulk_load<1>(to, from(t - LAG), CHUNK * 4, &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                }
            }
        }
        return;
    }
    if (warp == WARPS + 1) {  // waits for the statistics of all blocks, ahead of those who need them
        for (int row = 0; row < rows; ++row) {
            Spread s = gathered(parts + (size_t)row * gridDim.x, gridDim.x, x + row * columns, columns, patience);
            if (lane == 0) {
                whole[row & 1] = {s.mean, 1.0f / sqrtf(s.square / (float)columns + eps)};
                arrive(&ready[row & 1]);
            }
            __syncwarp();
        }
        return;
    }

    float4 w[CHUNKS * EACH];
#pragma unroll
    for (int i = 0; i < CHUNKS * EACH; ++i) {
        w[i] = __ldg(&weight[mine_at / 4 + i * CONSUMERS + tid]);
        room[i * CONSUMERS + tid] = __ldg(&bias[mine_at / 4 + i * CONSUMERS + tid]);  // read by the same thread alone
    }
    int slot = 0;
    unsigned parity = 0;
    Spread mine = {0.0f, 0.0f};
    float4 v[EACH];
    auto take = [&]() {
        wait(&full[slot], parity);
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = ring[slot * (CHUNK / 4) + i * CONSUMERS + tid];
        __syncwarp();
        if (lane == 0) arrive(&empty[slot]);
        if (++slot == SLOTS) slot = 0, parity ^= 1;
    };
    auto look = [&](int c, int row) {
        take();
        mine = taken<EACH>(mine, v, (float)(c * EACH));
        if (c == CHUNKS - 1) {
            mine = over_lanes<32>(mine, CHUNKS * EACH * 4.0f);
            if (lane == 0) lanes[row & 1][warp] = mine;
            meet_some<CONSUMERS>();
            if (warp == 0) {
                mine = over_lanes<WARPS>(lanes[row & 1][lane % WARPS], CHUNKS * EACH * 128.0f);
                if (lane == 0) tell(&parts[(size_t)row * gridDim.x + blockIdx.x], mine);
            }
            mine = {0.0f, 0.0f};
        }
    };
#pragma unroll
    for (int t = 0; t < LAG; ++t)
        if (t < all) look(t % CHUNKS, t / CHUNKS);
    for (int row = 0; row < rows; ++row) {
        wait(&ready[row & 1], (row >> 1) & 1);
        const Spread s = whole[row & 1];
        float4* to = reinterpret_cast<float4*>(y + row * columns + mine_at) + tid;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            if (row * CHUNKS + c + LAG < all) look((c + LAG) % CHUNKS, row + (c + LAG) / CHUNKS);
            take();
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int k = (c * EACH + i) * CONSUMERS;
                put_out(&to[k], normed(v[i], s.mean, s.square, w[c * EACH + i], room[k + tid]));
            }
        }
    }
}
""",
}
# --- the candidate


KNOBS = {"SLACK": [4, 8, 2], "STREAMED": [0, 1], "SLOTS": [6, 4]}
SLACK = 4
STREAMED = 0
SLOTS = 6
CHUNK = 4096
CONSUMERS = 512
PART = 32768
PATIENCE = 200000
CHUNKS = PART // CHUNK
LAG = CHUNKS + SLACK
SHARED = (PART + SLOTS * CHUNK) * 4

library = load(
    _SOURCES['04_weights_on_chip.cu'],
    defines={
        "CHUNK": CHUNK,
        "CHUNKS": CHUNKS,
        "SLOTS": SLOTS,
        "CONSUMERS": CONSUMERS,
        "LAG": LAG,
        "STREAMED": STREAMED,
    },
)


class ModelNew(torch.nn.Module):
    """torch.nn.LayerNorm over long rows."""

    def __init__(self, normalized_shape: tuple) -> None:
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.ln.weight, self.ln.bias
        columns = weight.numel()
        blocks = columns // PART
        aligned = all(t.data_ptr() % 16 == 0 for t in (x, weight, bias))
        if columns % PART or blocks % 32 or blocks > 128 or not x.is_contiguous() or not aligned:
            return self.ln(x)
        rows = x.numel() // columns
        y = torch.empty_like(x)
        parts = torch.full((rows, blocks), -1, dtype=torch.int64, device=x.device)
        library.layer_norm(
            blocks, CONSUMERS + 64, x, weight, bias, y, parts, rows, self.ln.eps, PATIENCE, shared=SHARED
        )
        return y
