"""How far results are from others on a GPU: one kernel that reads both once, compiled by NVRTC when it is first asked.

PyTorch's own operators need a dozen launches and eight times the memory's traffic for the same numbers, of hundreds of
calls in each evaluation.
"""

import ctypes
from contextlib import suppress
from typing import Any

import torch
from cuda.bindings import driver

from .cuda_memory import CudaFailed, checked
from .cuda_packed import Packed

TOLD = 5
_THREADS = 256
_BLOCKS_EACH = 8
"""Of a multiprocessor: so many fill it."""
_NAMES = {torch.float32: b"distance_f32", torch.float16: b"distance_f16", torch.bfloat16: b"distance_bf16"}
_SOURCE = r"""
typedef unsigned long long u64;

__device__ float wide_f16(unsigned short bits) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits)); return f; }
__device__ float wide_bf16(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

struct Sums {
    float error, size;
    unsigned error_most, size_most, share_most;  // bits of magnitudes: a NaN's are above all others'

    __device__ void add(float got, float own) {
        float off = got - own;
        error += off * off;
        size += own * own;
        error_most = max(error_most, __float_as_uint(fabsf(off)));
        size_most = max(size_most, __float_as_uint(fabsf(own)));
        share_most = max(share_most, off == 0.0f ? 0u : __float_as_uint(fabsf(off) / fabsf(own)));
    }

    __device__ void add_f32(uint4 got, uint4 own) {
        add(__uint_as_float(got.x), __uint_as_float(own.x)), add(__uint_as_float(got.y), __uint_as_float(own.y));
        add(__uint_as_float(got.z), __uint_as_float(own.z)), add(__uint_as_float(got.w), __uint_as_float(own.w));
    }
};

__device__ void most(double* place, unsigned bits) {
    for (int step = 16; step; step /= 2) bits = max(bits, __shfl_down_sync(~0u, bits, step));
    if (threadIdx.x % 32 == 0)
        atomicMax((u64*)place, (u64)__double_as_longlong((double)__uint_as_float(bits)));
}

__device__ void sum(double* place, double part) {
    for (int step = 16; step; step /= 2) part += __shfl_down_sync(~0u, part, step);
    if (threadIdx.x % 32 == 0) atomicAdd(place, part);
}

__device__ void tell(double* told, const Sums& sums) {
    sum(told, sums.error), most(told + 1, sums.error_most);
    sum(told + 2, sums.size), most(told + 3, sums.size_most), most(told + 4, sums.share_most);
}

#define WALK(at, count) \
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < (count); at += gridDim.x * (u64)blockDim.x)

extern "C" __global__ void distance_f32(const uint4* got, const uint4* own, u64 count, double* told) {
    Sums sums = {};
    WALK(at, count / 4) sums.add_f32(got[at], own[at]);
    const float *last = (const float*)got, *own_last = (const float*)own;
    WALK(at, count % 4) sums.add(last[count / 4 * 4 + at], own_last[count / 4 * 4 + at]);
    tell(told, sums);
}

#define OF_SHORTS(name, wide) \
    __device__ void name##_pair(Sums& sums, unsigned got, unsigned own) { \
        sums.add(wide((unsigned short)got), wide((unsigned short)own)); \
        sums.add(wide((unsigned short)(got >> 16)), wide((unsigned short)(own >> 16))); \
    } \
    extern "C" __global__ void name(const uint4* got, const uint4* own, u64 count, double* told) { \
        Sums sums = {}; \
        WALK(at, count / 8) { \
            uint4 g = got[at], o = own[at]; \
            name##_pair(sums, g.x, o.x), name##_pair(sums, g.y, o.y); \
            name##_pair(sums, g.z, o.z), name##_pair(sums, g.w, o.w); \
        } \
        const unsigned short *last = (const unsigned short*)got, *own_last = (const unsigned short*)own; \
        WALK(at, count % 8) sums.add(wide(last[count / 8 * 8 + at]), wide(own_last[count / 8 * 8 + at])); \
        tell(told, sums); \
    }

OF_SHORTS(distance_f16, wide_f16)
OF_SHORTS(distance_bf16, wide_bf16)
"""


class Distance:
    """Of tensors on one device."""

    def __init__(self, index: int) -> None:
        self._index, properties = index, torch.cuda.get_device_properties(index)
        self._arch = f"sm_{properties.major}{properties.minor}"
        self._most_blocks = _BLOCKS_EACH * properties.multi_processor_count
        self._kernels: dict[torch.dtype, Any] | None = None
        self._packed = Packed(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)

    def __call__(self, got: torch.Tensor, own: torch.Tensor) -> torch.Tensor | None:
        """As `DeviceSession.distance`; None where they do not lie alike, in one piece, and where NVRTC is missing."""
        if got.dtype not in _NAMES or got.dtype != own.dtype or got.shape != own.shape:
            return None
        if not (got.is_contiguous() and own.is_contiguous()) or (got.data_ptr() | own.data_ptr()) % 16:
            return None
        if self._kernels is None:
            self._kernels = self._compiled()
        if got.dtype not in self._kernels:
            return None
        told = torch.zeros(TOLD, dtype=torch.float64, device=got.device)
        count = got.numel()
        blocks = max(1, min(self._most_blocks, count * got.itemsize // (16 * _THREADS)))
        places = self._packed.address(got.data_ptr(), own.data_ptr(), count, told.data_ptr())
        stream = driver.CUstream(torch.cuda.current_stream(self._index).cuda_stream)
        kernel = self._kernels[got.dtype]
        checked(driver.cuLaunchKernel(kernel, blocks, 1, 1, _THREADS, 1, 1, 0, stream, places, 0))
        return told

    def _compiled(self) -> dict[torch.dtype, Any]:
        """The kernels; none where the compiler is missing or too old for the device."""
        with suppress(ImportError, RuntimeError, CudaFailed):
            module = checked(driver.cuModuleLoadData(_cubin(self._arch)))
            return {dtype: checked(driver.cuModuleGetFunction(module, name)) for dtype, name in _NAMES.items()}
        return {}


def _cubin(arch: str) -> bytes:
    """Raises ImportError or RuntimeError: there is no NVRTC, or it refuses."""
    from cuda.bindings import nvrtc

    def done(result: tuple[Any, ...]) -> Any:
        status, *values = result
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"NVRTC said: {status}")
        return values[0] if values else None

    program = done(nvrtc.nvrtcCreateProgram(_SOURCE.encode(), b"distance.cu", 0, [], []))
    done(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture={arch}".encode()]))
    code = bytearray(done(nvrtc.nvrtcGetCUBINSize(program)))
    done(nvrtc.nvrtcGetCUBIN(program, code))
    return bytes(code)
