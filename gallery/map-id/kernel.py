# Exported by Kernwright 0.1.0: node 11 of run 20261122-map-id-3b8e, by Claude (Anthropic).
# problem: map_id (6796a0dd32e9ee46e6f651f79355dd83)
# verdict: verified
# speedup: 2.342x [2.303, 2.381], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# note: candidate is slower on workload 'large' for values unlike the generator's, by 9% or so, and that counts
# note: candidate is slower on workload 'large' for values unlike the generator's, by 13% or so, and that counts
# note: candidate is slower on workload 'large' for values unlike the generator's, by 12% or so, and that counts
# note: candidate is slower on workload 'large' for values unlike the generator's, by 6% or so, and that counts
# note: candidate is slower on workload 'large' for values unlike the generator's, by 10% or so, and that counts
# evidence: kernel.bundle.json, bundle c9117a2fee5dd5774782e06e98afc3bfce80534c33c08fbb8cfd2c1cfcb3e484
# workload: large {'ids': 4194304, 'known': 100000, 'span': 200000}
# workload: small_table {'ids': 4194304, 'known': 1000, 'span': 2000}
# workload: few {'ids': 65536, 'known': 100000, 'span': 200000}
# use: from this file import ModelNew, in the place of Model

"""CUDA: one launch: keys write words of bits with ranks, all blocks meet, then each looks its ids up in shared memory.

The first ids are on their way before the meeting. Numbers are narrowed to 32 bits where they fit. Few ids: the same
with a table from id to number. Small tables lie in shared memory. The device decides what fits, and searches others.
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


THREADS = 1024
PER_SM = 2
UNROLL = 2
READS = 1  # 0: plain, 1: evict first
KNOBS = {"THREADS": [512, 1024], "PER_SM": [1, 2], "UNROLL": [1, 2], "READS": [1, 0]}
SMALL = 2048  # keys that have a table in shared memory
FEW = 1 << 19  # below it, a table from id to number
SMS = 132
_COUNTERS: dict[tuple[torch.device, int], torch.Tensor] = {}


def counter_of(x: torch.Tensor, blocks: int) -> torch.Tensor:
    """A counter of meetings, of its own for a stand-in of a tensor, as a build uses."""
    if type(x) is not torch.Tensor:
        return torch.zeros(1, dtype=torch.int64, device=x.device)
    key = x.device, blocks
    if key not in _COUNTERS:
        _COUNTERS[key] = torch.zeros(1, dtype=torch.int64, device=x.device)
    return _COUNTERS[key]


SOURCE = r"""
struct __align__(16) Pair { long long x, y; };
__device__ inline unsigned long long early() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline Pair get_by(const Pair* p, unsigned long long policy) {
    Pair v;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.b64 {%0, %1}, [%2], %3;"
                 : "=l"(v.x), "=l"(v.y) : "l"(p), "l"(policy));
    return v;
}
// HINTS END

__device__ inline Pair get(const long long* ids, long long at, long long count, unsigned long long policy,
                           long long other) {
    if (at + 1 < count) return READS ? get_by((const Pair*)(ids + at), policy) : *(const Pair*)(ids + at);
    Pair v = {at < count ? ids[at] : other, other};
    return v;
}
__device__ inline void put(long long* out, long long at, long long count, Pair v) {
    if (at + 1 < count) *(Pair*)(out + at) = v;
    else if (at < count) out[at] = v.x;
}

__device__ inline int before(const long long* __restrict__ keys, int known, long long wanted) {
    int low = 0, size = known;
    while (size > 1) {
        const int half = size / 2;
        if (keys[low + half - 1] < wanted) low += half;
        size -= half;
    }
    return low + (keys[low] < wanted);
}
__device__ inline long long searched(const long long* __restrict__ keys, const long long* __restrict__ numbers,
                                     int known, long long wanted, long long other) {
    const int at = before(keys, known, wanted);
    return at < known && keys[at] == wanted ? numbers[at] : other;
}
__device__ inline bool fits(long long first, long long last, long long room) {
    return last >= first && (unsigned long long)last - (unsigned long long)first < (unsigned long long)room;
}

// Key i of the table: its number as 32 bits, and, if it is the first of its 32 ids, the word of them and empty ones
// before. True if the number has more than 32 bits.
__device__ inline bool mark_key(const long long* __restrict__ keys, const long long* __restrict__ numbers, uint2* map,
                                int* narrow, int known, long long first, int i) {
    const unsigned long long place = (unsigned long long)keys[i] - (unsigned long long)first;
    const long long number = numbers[i];
    narrow[i] = (int)number;
    const long long word = place / 32;
    const long long last = i ? (long long)(((unsigned long long)keys[i - 1] - (unsigned long long)first) / 32) : -1;
    if (word != last) {
        unsigned bits = 1u << (unsigned)(place % 32);
        int j = i + 1;
        for (; j < known; ++j) {
            const unsigned long long other = (unsigned long long)keys[j] - (unsigned long long)first;
            if ((long long)(other / 32) != word) break;
            bits |= 1u << (unsigned)(other % 32);
        }
        const bool repeated = j - i != __popc(bits);
        map[word] = make_uint2(bits, (unsigned)i | (repeated ? 0x80000000u : 0u));
        for (long long empty = last + 1; empty < word; ++empty) map[empty] = make_uint2(0u, (unsigned)i);
    }
    return number != (int)number;
}
__device__ inline long long ranked(const uint2* near, const long long* __restrict__ keys,
                                   const long long* __restrict__ numbers, const int* narrow, bool wide, int known,
                                   long long first, unsigned long long range, long long wanted, long long other) {
    const unsigned long long place = (unsigned long long)wanted - (unsigned long long)first;
    if (wanted < first || place > range) return other;
    const uint2 both = near[place / 32];
    const unsigned bit = 1u << (unsigned)(place % 32);
    if (!(both.x & bit)) return other;
    int at = (int)both.y + __popc(both.x & (bit - 1));
    if (at < 0) at = before(keys, known, wanted);  // keys repeat within this word
    return wide ? numbers[at] : (long long)narrow[at];
}

// Key i and the unknown ids before it, in a table from id to number. Of equal keys the first writes.
__device__ inline void spread_key(const long long* __restrict__ keys, const long long* __restrict__ numbers,
                                  long long* table, long long first, long long other, int i) {
    const long long place = (long long)((unsigned long long)keys[i] - (unsigned long long)first);
    const long long last = i ? (long long)((unsigned long long)keys[i - 1] - (unsigned long long)first) : -1;
    const long long number = numbers[i];
    if (place == last) return;
    table[place] = number;
    for (long long empty = last + 1; empty < place; ++empty) table[empty] = other;
}

// A table from id to number in each block's shared memory.
extern "C" __global__ void __launch_bounds__(THREADS) small(const long long* ids, const long long* __restrict__ keys,
                                                            const long long* __restrict__ numbers, long long* out,
                                                            long long count, int known, int room, long long other) {
    extern __shared__ long long table[];
    const unsigned long long policy = early();
    const long long stride = (long long)gridDim.x * (THREADS * UNROLL * 2);
    long long base = (long long)blockIdx.x * (THREADS * UNROLL * 2) + threadIdx.x * 2;
    Pair wanted[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) wanted[i] = get(ids, base + i * THREADS * 2, count, policy, 0);
    const long long first = keys[0], last = keys[known - 1];
    const unsigned long long range = (unsigned long long)last - (unsigned long long)first;
    const bool fit = fits(first, last, room);
    if (fit) {
        for (int i = threadIdx.x; i < known; i += THREADS) spread_key(keys, numbers, table, first, other, i);
        __syncthreads();
    }
    while (base < count) {
        Pair number[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            if (fit) {
                const unsigned long long x = (unsigned long long)wanted[i].x - (unsigned long long)first;
                const unsigned long long y = (unsigned long long)wanted[i].y - (unsigned long long)first;
                number[i].x = wanted[i].x >= first && x <= range ? table[x] : other;
                number[i].y = wanted[i].y >= first && y <= range ? table[y] : other;
            } else {
                number[i].x = searched(keys, numbers, known, wanted[i].x, other);
                number[i].y = searched(keys, numbers, known, wanted[i].y, other);
            }
        }
        const long long here = base;
        base += stride;
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            wanted[i] = get(ids, base + i * THREADS * 2, count, policy, 0);
            put(out, here + i * THREADS * 2, count, number[i]);
        }
    }
}

// All blocks of the grid, which are resident together. The counter only grows.
__device__ inline void meet(unsigned long long* counter) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned long long mine = atomicAdd(counter, 1ull), goal = (mine / gridDim.x + 1) * gridDim.x;
        while (*(volatile unsigned long long*)counter < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, PER_SM) look_up(const long long* ids,
                                                                      const long long* __restrict__ keys,
                                                                      const long long* __restrict__ numbers,
                                                                      uint4* map, int* narrow, int* wides,
                                                                      long long* out, unsigned long long* counter,
                                                                      long long count, int known, int words,
                                                                      long long other) {
    extern __shared__ uint4 memory[];
    const uint2* near = (const uint2*)memory;
    const unsigned long long policy = early();
    const long long stride = (long long)gridDim.x * (THREADS * UNROLL * 2);
    long long base = (long long)blockIdx.x * (THREADS * UNROLL * 2) + threadIdx.x * 2;
    Pair wanted[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) wanted[i] = get(ids, base + i * THREADS * 2, count, policy, 0);
    const long long first = keys[0], last = keys[known - 1];
    const unsigned long long range = (unsigned long long)last - (unsigned long long)first;
    const bool fit = fits(first, last, 32ll * words);
    int wide = 0;
    if (fit) {
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < known; i += gridDim.x * THREADS)
            wide |= mark_key(keys, numbers, (uint2*)map, narrow, known, first, i);
        wide = __syncthreads_or(wide);
        if (threadIdx.x == 0) wides[blockIdx.x] = wide;
        meet(counter);
        const int used = (int)(range / 64) + 1;  // pairs of words
        for (int i = threadIdx.x; i < used; i += THREADS) memory[i] = map[i];
        for (int i = threadIdx.x; i < gridDim.x; i += THREADS) wide |= wides[i];
        wide = __syncthreads_or(wide);
    }
    while (base < count) {
        Pair number[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            if (fit) {
                number[i].x = ranked(near, keys, numbers, narrow, wide, known, first, range, wanted[i].x, other);
                number[i].y = ranked(near, keys, numbers, narrow, wide, known, first, range, wanted[i].y, other);
            } else {
                number[i].x = searched(keys, numbers, known, wanted[i].x, other);
                number[i].y = searched(keys, numbers, known, wanted[i].y, other);
            }
        }
        const long long here = base;
        base += stride;
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            wanted[i] = get(ids, base + i * THREADS * 2, count, policy, 0);
            put(out, here + i * THREADS * 2, count, number[i]);
        }
    }
}


extern "C" __global__ void __launch_bounds__(512, 1) pick(const long long* ids, const long long* __restrict__ keys,
                                                          const long long* __restrict__ numbers, long long* table,
                                                          long long* out, unsigned long long* counter, long long count,
                                                          int known, long long room, long long other) {
    const long long stride = (long long)gridDim.x * 512;
    long long at = (long long)blockIdx.x * 512 + threadIdx.x;
    long long wanted = at < count ? ids[at] : 0;
    const long long first = keys[0], last = keys[known - 1];
    const bool fit = fits(first, last, room);
    if (fit) {
        for (int i = (int)at; i < known; i += (int)stride) spread_key(keys, numbers, table, first, other, i);
        meet(counter);
    }
    for (; at < count; at += stride) {
        if (fit)
            out[at] = wanted >= first && wanted <= last ? table[wanted - first] : other;
        else
            out[at] = searched(keys, numbers, known, wanted, other);
        if (at + stride < count) wanted = ids[at + stride];
    }
}
"""

library = load(SOURCE, defines={"THREADS": THREADS, "PER_SM": PER_SM, "UNROLL": UNROLL, "READS": READS})


class ModelNew(torch.nn.Module):
    def __init__(self, known: int, span: int, default: int = -1) -> None:
        super().__init__()
        self.default = default
        self.register_buffer("keys", torch.randperm(span)[:known].sort().values)
        self.register_buffer("numbers", torch.randperm(known))

    def forward(self, ids):
        ids = ids.contiguous()
        out = torch.empty_like(ids)
        count, known = ids.numel(), self.keys.numel()
        if known <= SMALL:
            room = max(1024, 4 * known)
            blocks = min(SMS * PER_SM, -(-count // (THREADS * UNROLL * 2)))
            library.small(
                blocks, THREADS, ids, self.keys, self.numbers, out, count, known, room, self.default, shared=8 * room
            )
            return out
        if count < FEW:
            room = min(1 << 20, 4 * known) if count * 8 > known else 0
            table = torch.empty(max(room, 1), dtype=torch.int64, device=ids.device)
            blocks = min(SMS, -(-count // 512))
            library.pick(
                blocks,
                512,
                ids,
                self.keys,
                self.numbers,
                table,
                out,
                counter_of(ids, blocks),
                count,
                known,
                room,
                self.default,
            )
            return out
        words = min((96 << 10) // 8, known // 11 + 2) // 2 * 2
        blocks = min(SMS * PER_SM, -(-count // (THREADS * UNROLL * 2)))
        space = torch.empty(words * 2 + known + blocks, dtype=torch.int32, device=ids.device)
        library.look_up(
            blocks,
            THREADS,
            ids,
            self.keys,
            self.numbers,
            space,
            space[words * 2 :],
            space[words * 2 + known :],
            out,
            counter_of(ids, blocks),
            count,
            known,
            words,
            self.default,
            shared=8 * words,
        )
        return out
