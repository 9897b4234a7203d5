# Exported by Kernwright 0.1.0: node 10 of run 20261122-level3-36-lstmhn-5268, by Claude (Anthropic).
# problem: level3_36_LSTMHn (7e87ace7da66b43bc366b1550550890c)
# verdict: verified
# speedup: 17.498x [13.622, 22.477], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle e4929fb97479d1b750116951ecdbf008614005ce7e83ba1a718e6483f7915f94
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""CUDA: 04's pipeline with relaxed loads and stores of GPU scope instead of volatile ones.

Volatile accesses are those of a whole system and kept in order; relaxed ones need only reach the L2 cache. Numbers are
their own flags, word by word, so that no order among them is needed.
"""

import torch
from torch import nn

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


LAYERS = 6
MOST = 10  # batch entries
PAUSE = 0
KNOBS = {"PAUSE": [0, 20, 100]}

SOURCE = r"""
#define HIDDEN 256
#define UNITS 16
#define ROWS (4 * UNITS)
#define BLOCKS (HIDDEN / UNITS)
#define WARPS 16
#define THREADS (32 * WARPS)
#define PIECES (MOST * UNITS / 4)  // float4 of one block's step
#define STEP (BLOCKS * PIECES)
#define ENOUGH (1 << 24)
#define EMPTY 0xffffffffu

// A number that was not written yet has EMPTY's bits, which no number here has: data are their own flags.
__device__ inline void put(float* p, float value) {
    const unsigned bits = __float_as_uint(value);
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(bits == EMPTY ? 0x7fffffffu : bits) : "memory");
}
__device__ inline bool missing(uint4 v) { return v.x == EMPTY || v.y == EMPTY || v.z == EMPTY || v.w == EMPTY; }
// From the L2 cache, without what a volatile load orders.
__device__ inline uint4 look(const uint4* p) {
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p)
                 : "memory");
    return v;
}

// Block (layer, part) has 16 units' rows of both matrices in registers: a lane two rows, a warp 16 of the 256 columns
// of each. Row r is gate r % 4 of unit r / 4.
extern "C" __global__ void __launch_bounds__(THREADS, 1) lstm(
    const float* x, const float* h0, const float* c0, uint4* history, float* out,
    const float* wx0, const float* wh0, const float* bx0, const float* bh0,
    const float* wx1, const float* wh1, const float* bx1, const float* bh1,
    const float* wx2, const float* wh2, const float* bx2, const float* bh2,
    const float* wx3, const float* wh3, const float* bx3, const float* bh3,
    const float* wx4, const float* wh4, const float* bx4, const float* bh4,
    const float* wx5, const float* wh5, const float* bx5, const float* bh5,
    int batch, int length, int inputs) {
    extern __shared__ float4 memory[];
    const int layer = blockIdx.x / BLOCKS, part = blockIdx.x % BLOCKS, unit0 = part * UNITS;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    float4* slice = memory + warp * 2 * PIECES;           // this warp's columns of the input, then of h
    float* parts = (float*)(memory + WARPS * 2 * PIECES);  // [step % 2][warp][batch][row]
#define UPPER(p) (layer == 3 ? p##3 : layer == 4 ? p##4 : p##5)
#define OF_LAYER(p) (layer == 0 ? p##0 : layer == 1 ? p##1 : layer == 2 ? p##2 : UPPER(p))
    const float *wx = OF_LAYER(wx), *wh = OF_LAYER(wh), *bx = OF_LAYER(bx), *bh = OF_LAYER(bh);
    const int wide = layer ? HIDDEN : inputs;
    const bool fed = warp * UNITS < wide;
    float of_x[2][UNITS], of_h[2][UNITS];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int r = lane + 32 * i;
        const int row = (r % 4) * HIDDEN + unit0 + r / 4;
#pragma unroll
        for (int k = 0; k < UNITS; ++k) {
            of_x[i][k] = fed ? wx[row * wide + warp * UNITS + k] : 0.f;
            of_h[i][k] = wh[row * HIDDEN + warp * UNITS + k];
        }
    }
    // What this thread ends: gates tid and tid + 512 of the batch x row numbers, four lanes a unit.
    float cell[2] = {0.f, 0.f}, bias[2] = {0.f, 0.f};
    for (int i = 0; i < 2; ++i) {
        const int o = tid + i * THREADS, r = o % ROWS, b = o / ROWS, row = (r % 4) * HIDDEN + unit0 + r / 4;
        if (o < MOST * ROWS) bias[i] = bx[row] + bh[row];
        if (b < batch) cell[i] = c0[(layer * batch + b) * HIDDEN + unit0 + r / 4];
    }
    const uint4* below = history + (layer - 1) * length * STEP + warp * PIECES;
    uint4* own = history + layer * length * STEP;
    const uint4 none = make_uint4(0, 0, 0, 0);
    const bool second = lane < PIECES - 32;
    uint4 one = none, two = none;
    auto of_input = [&](int t, int piece) {  // layer 0's
        const int b = piece / (UNITS / 4), q = piece % (UNITS / 4);
        return fed && b < batch ? ((const uint4*)x)[((b * length + t) * inputs + warp * UNITS) / 4 + q] : none;
    };
    auto ask = [&](int t) {
        if (layer == 0) {
            one = of_input(t, lane);
            if (second) two = of_input(t, lane + 32);
        } else {
            one = look(below + t * STEP + lane);
            if (second) two = look(below + t * STEP + lane + 32);
        }
    };
    // Until all is there; gives up rather than hang.
    auto settle = [&](const uint4* from) {
        for (int i = 0; i < ENOUGH && (missing(one) || missing(two)); ++i) {
#if PAUSE
            __nanosleep(PAUSE);
#endif
            if (missing(one)) one = look(from + lane);
            if (missing(two)) two = look(from + lane + 32);
        }
    };
    auto keep = [&](float4* to) {
        ((uint4*)to)[lane] = one;
        if (second) ((uint4*)to)[lane + 32] = two;
        __syncwarp();
    };
    float sum[2][MOST];
    auto products = [&](const float4* from, const float (*weight)[UNITS]) {
#pragma unroll
        for (int b = 0; b < MOST; ++b)
#pragma unroll
            for (int q = 0; q < UNITS / 4; ++q) {
                const float4 v = from[b * (UNITS / 4) + q];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    sum[i][b] += weight[i][4 * q] * v.x;
                    sum[i][b] += weight[i][4 * q + 1] * v.y;
                    sum[i][b] += weight[i][4 * q + 2] * v.z;
                    sum[i][b] += weight[i][4 * q + 3] * v.w;
                }
            }
    };
    ask(0);
#pragma unroll 1
    for (int t = 0; t < length; ++t) {
        if (layer) settle(below + t * STEP);
        keep(slice);
#pragma unroll
        for (int b = 0; b < MOST; ++b) sum[0][b] = sum[1][b] = 0.f;
        if (fed) products(slice, of_x);
        if (t == 0) {
            const int b = lane / 4, q = lane % 4;
            const uint4* from = (const uint4*)(h0 + (layer * batch * HIDDEN) + warp * UNITS);
            one = b < batch ? from[b * (HIDDEN / 4) + q] : none;
            two = second && b + 8 < batch ? from[(b + 8) * (HIDDEN / 4) + q] : none;
        } else {
            const uint4* from = own + (t - 1) * STEP + warp * PIECES;
            one = look(from + lane);
            two = second ? look(from + lane + 32) : none;
            settle(from);
        }
        keep(slice + PIECES);
        two = none;
        if (t + 1 < length) ask(t + 1);  // it comes while these are multiplied
        products(slice + PIECES, of_h);
        float* these = parts + t % 2 * (WARPS * MOST * ROWS);
#pragma unroll
        for (int b = 0; b < MOST; ++b) {
            these[(warp * MOST + b) * ROWS + lane] = sum[0][b];
            these[(warp * MOST + b) * ROWS + lane + 32] = sum[1][b];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int o = tid + i * THREADS, r = o % ROWS, b = o / ROWS;
            if (i * THREADS + warp * 32 < MOST * ROWS) {  // whole warps
                float gate = bias[i], other = 0.f;
#pragma unroll
                for (int w = 0; w < WARPS; w += 2) {
                    gate += these[w * MOST * ROWS + o];
                    other += these[(w + 1) * MOST * ROWS + o];
                }
                gate += other;
                gate = r % 4 == 2 ? tanhf(gate) : 1.f / (1.f + expf(-gate));
                const int first = lane & ~3;
                const float in = __shfl_sync(~0u, gate, first), forget = __shfl_sync(~0u, gate, first + 1);
                const float fresh = __shfl_sync(~0u, gate, first + 2), shown = __shfl_sync(~0u, gate, first + 3);
                cell[i] = forget * cell[i] + in * fresh;
                const float hidden = shown * tanhf(cell[i]);
                if (r % 4 == 0) {
                    put((float*)(own + t * STEP + part * PIECES) + b * UNITS + r / 4, hidden);
                    if (t == length - 1 && b < batch) out[(layer * batch + b) * HIDDEN + unit0 + r / 4] = hidden;
                }
            }
        }
    }
}
"""

library = load(SOURCE, defines={"MOST": MOST, "PAUSE": PAUSE})


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)  # of the model; what it makes is not returned

    def forward(self, x, h0, c0):
        batch, length, inputs = x.shape
        if (
            (self.lstm.num_layers, self.lstm.hidden_size) != (6, 256)
            or not 1 <= batch <= MOST
            or inputs > 256
            or inputs % 16
            or length > 4096
        ):
            return self.lstm(x, (h0, c0))[1][0]
        x, h0, c0 = x.contiguous(), h0.contiguous(), c0.contiguous()
        out = torch.empty_like(h0)
        weights = [weight.contiguous() for weight in self.lstm.parameters()]
        shared = (16 * 2 * MOST * 16 + 2 * 16 * MOST * 64) * 4
        history = torch.full((LAYERS, length, MOST, 256), -1, dtype=torch.int32, device=x.device)
        library.lstm(96, 512, x, h0, c0, history, out, *weights, batch, length, inputs, shared=shared)
        return out
