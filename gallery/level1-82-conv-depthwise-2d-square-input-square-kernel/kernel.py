# Exported by Kernwright 0.1.0: node 3 of run 20261122-level1-82-conv-depthwise-2d-squa-9c9d, by Claude (Anthropic).
# problem: level1_82_conv_depthwise_2D_square_input_square_kernel (f8812825de756c8d44a567b010998e81)
# verdict: verified
# speedup: 3.400x [3.391, 3.410], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 3b858bfb58c5bc9aed4b32f247813f879cf3b4b954e87958f86f1c581d1385ef
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""CUDA: a block walks down a plane; rows come by bulk copies, results leave by aligned bulk stores.

No row is read twice (but for those between stretches): partial sums of two rows stay in registers. Rows of outputs
are not aligned, but those of a step are contiguous: they are put into shared memory at their place within 16 bytes.
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
    '04_bulk_walk.cu': r"""// Depthwise 3 x 3 without padding, on rows of 512: rows come and results go by bulk copies, a thread for each column.
constexpr int WIDTH = 512, OUT_WIDTH = 510, REACH = 3, EACH = WIDTH / THREADS, STAGED = ROWS * OUT_WIDTH / 4 * 4 + 8;
extern __shared__ __align__(128) float shared[];

// PTX is "asm"; the CPU shim, which knows none, takes the other branches: copies by the first thread, no barriers in memory.
typedef unsigned long long Barrier;

#ifdef KERNWRIGHT_ARCH
__device__ __forceinline__ void init(Barrier*, unsigned) {}
__device__ __forceinline__ void inits_seen() {}
__device__ __forceinline__ void expect(Barrier*, unsigned) {}
__device__ __forceinline__ void wait(Barrier*, unsigned) { __syncthreads(); }
__device__ __forceinline__ void bulk_load(float* to, const float* from, unsigned bytes, Barrier*) {
    for (unsigned i = 0; i < bytes / 4; ++i) to[i] = from[i];
}
__device__ __forceinline__ void bulk_store(float* to, const float* from, unsigned bytes) {
    for (unsigned i = 0; i < bytes / 4; ++i) to[i] = from[i];
}
__device__ __forceinline__ void written() {}
__device__ __forceinline__ void wait_for_stores() {}
__device__ __forceinline__ void wait_for_all_stores() {}
#else
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    PTX volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { PTX volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    PTX volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        PTX volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(float* to, const float* from, unsigned bytes, Barrier* b) {
    PTX volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(b))
                 : "memory");
}
__device__ __forceinline__ void bulk_store(float* to, const float* from, unsigned bytes) {
    PTX volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "r"(bytes)
                 : "memory");
    PTX volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void written() { PTX volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// All but the last one have read what they store.
__device__ __forceinline__ void wait_for_stores() { PTX volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); }
__device__ __forceinline__ void wait_for_all_stores() { PTX volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
#endif

// A block walks down one of `parts` stretches of a plane, ROWS rows of input a step; SLOTS of them are loaded ahead. The
// outputs of a step are contiguous, and go from shared memory, where they lie at the same place within 16 bytes.
extern "C" __global__ void __launch_bounds__(THREADS) depthwise(const float* __restrict__ x, const float* __restrict__ weight,
    const float* __restrict__ bias, float* __restrict__ y, int channels, int height, int parts) {
    __shared__ Barrier full[SLOTS];
    float* const ring = shared;
    float* const staged = shared + SLOTS * ROWS * WIDTH;
    int tid = threadIdx.x, out_height = height - 2;
    size_t plane = blockIdx.x / parts;
    int share = (out_height + parts - 1) / parts, begin = blockIdx.x % parts * share, end = min(out_height, begin + share);
    if (begin >= end) return;
    x += plane * height * WIDTH;
    y += plane * out_height * OUT_WIDTH;
    // Row `top` of the input is the first one that output row `begin` meets; it may be padding.
    int top = begin, steps = (end - begin + REACH - 1 + ROWS - 1) / ROWS;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();
    auto fill = [&](int step) {
        int first = max(0, top + step * ROWS), last = min(height, top + step * ROWS + ROWS);
        int bytes = max(0, last - first) * WIDTH * 4;
        expect(&full[step % SLOTS], bytes);
        float* to = ring + (step % SLOTS * ROWS + first - (top + step * ROWS)) * WIDTH;
        if (bytes) bulk_load(to, x + (size_t)first * WIDTH, bytes, &full[step % SLOTS]);
    };
    if (tid == 0)
        for (int step = 0; step < min(SLOTS, steps); ++step) fill(step);
    int channel = int(plane % channels);
    float w[9], shift = bias ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[channel * 9 + i];
    float here[EACH] = {}, later[EACH] = {};

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        // Outputs of this step: rows `first` to `last`, of which the first may lie before `begin`.
        int first = max(begin, begin + step * ROWS - (REACH - 1)), last = min(end, begin + step * ROWS + ROWS - (REACH - 1));
        float* to = y + (size_t)first * OUT_WIDTH;
        int phase = int(reinterpret_cast<size_t>(to) / 4 % 4), count = max(0, last - first) * OUT_WIDTH;
        float* out = staged + step % 2 * STAGED + phase;
        wait(&full[step % SLOTS], step / SLOTS % 2);
        const float* from = ring + step % SLOTS * ROWS * WIDTH;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            int col = tid + k * THREADS;
            int next = min(WIDTH - 1, col + 1), after = min(WIDTH - 1, col + 2);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                int row = top + step * ROWS + i, to_row = row - (REACH - 1);
                float p = 0, q = 0, r = 0;
                if (row < height) {
                    const float* at = from + i * WIDTH;
                    p = at[col], q = at[next], r = at[after];
                }
                if (to_row >= first && to_row < last && col < OUT_WIDTH)
                    out[(to_row - first) * OUT_WIDTH + col] = here[k] + (p * w[6] + q * w[7] + r * w[8]);
                here[k] = later[k] + (p * w[3] + q * w[4] + r * w[5]);
                later[k] = shift + p * w[0] + q * w[1] + r * w[2];
            }
        }
        written();
        __syncthreads();
        int head = min(count, (4 - phase) % 4), body = (count - head) / 4 * 4;
        if (tid == 0) {
            if (body) bulk_store(to + head, out + head, body * 4);
            if (step + SLOTS < steps) fill(step + SLOTS);
            wait_for_stores();
        }
        if (tid >= 32 && tid < 32 + head) to[tid - 32] = out[tid - 32];
        if (tid >= 64 && tid < 64 + count - head - body) to[head + body + tid - 64] = out[head + body + tid - 64];
        __syncthreads();
    }
    if (tid == 0) wait_for_all_stores();
}
""",
}
# --- the candidate


KNOBS = {"ROWS": [4, 8, 16], "SLOTS": [2, 3, 4], "THREADS": [256, 512], "PARTS": [1, 2, 4]}
ROWS = 8
SLOTS = 3
THREADS = 512
PARTS = 2

library = load(_SOURCES['04_bulk_walk.cu'], defines={"ROWS": ROWS, "SLOTS": SLOTS, "THREADS": THREADS, "PTX": "asm"})


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels, in_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias
        )
        self.plain = (kernel_size, stride, padding) == (3, 1, 0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] == 512 and x.shape[2] >= 8
        if not self.plain or not fits:
            return self.conv2d(x)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 2, width - 2)
        weight, bias = self.conv2d.weight, self.conv2d.bias
        shared = (SLOTS * ROWS * 512 + 2 * (ROWS * 510 // 4 * 4 + 8)) * 4
        library.depthwise(n * c * PARTS, THREADS, x, weight, bias, y, c, height, PARTS, shared=shared)
        return y
