"""CUDA: all targets lie in shared memory (128 KiB), one block an SM, whose warps take whole rows in order.

A warp reads 16 KiB of a row at a time, 32 vectors a lane in flights of eight; rows are given out in the order of
memory, and what is multiplied never comes from L2.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [1024, 512], "EACH": [8, 4, 16]}
THREADS = 1024
EACH = 8
MULTIPROCESSORS = 132

SOURCE = r"""
__device__ __forceinline__ float margin(float p, float t) {
    float v = fmaf(-p, t, 1.0f);
    return v <= 0.0f ? 0.0f : v;  // keeps what is no number, as clamp does
}
__device__ __forceinline__ float margins(float4 p, float4 t) {
    return (margin(p.x, t.x) + margin(p.y, t.y)) + (margin(p.z, t.z) + margin(p.w, t.w));
}
__device__ __forceinline__ float over_block(float total) {
    __shared__ float lanes[THREADS / 32];
#pragma unroll
    for (int d = 16; d; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = total;
    __syncthreads();
    total = 0.0f;
    for (int i = 0; i < THREADS / 32; ++i) total += lanes[i];
    return total;
}
extern "C" __global__ void __launch_bounds__(THREADS)
    mean(const float* __restrict__ parts, float* __restrict__ out, int count, float whole) {
    float total = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) total += parts[i];
    total = over_block(total);
    if (threadIdx.x == 0) *out = total / whole;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    hinge(const float4* __restrict__ x, const float4* __restrict__ targets, float* __restrict__ parts, int rows,
          int fours) {
    extern __shared__ __align__(16) float4 kept[];
    for (int i = threadIdx.x; i < fours; i += THREADS) kept[i] = __ldg(&targets[i]);
    __syncthreads();
    const int lane = threadIdx.x % 32, pieces = fours / (32 * EACH);
    const long long all = (long long)rows * pieces;
    float total = 0.0f;
    for (long long p = (long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32; p < all;
         p += (long long)gridDim.x * (THREADS / 32)) {
        const int at = (int)(p % pieces) * (32 * EACH) + lane;
        const float4* here = x + (p / pieces) * fours + at;
        float4 v[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = __ldg(&here[i * 32]);
#pragma unroll
        for (int i = 0; i < EACH; ++i) total += margins(v[i], kept[at + i * 32]);
    }
    total = over_block(total);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}
"""
library = load(SOURCE, defines={"THREADS": THREADS, "EACH": EACH})


class ModelNew(torch.nn.Module):
    """mean(max(1 - predictions * targets, 0)), a target for each column."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, columns = predictions.shape
        if targets.shape != (columns,) or columns % (128 * EACH) or columns > 32768:
            return torch.mean(torch.clamp(1 - predictions * targets, min=0))
        predictions, targets = predictions.contiguous(), targets.contiguous()
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        if predictions.data_ptr() % 16 or targets.data_ptr() % 16:
            return torch.mean(torch.clamp(1 - predictions * targets, min=0))
        parts = torch.empty(MULTIPROCESSORS, dtype=torch.float32, device=predictions.device)
        library.hinge(MULTIPROCESSORS, THREADS, predictions, targets, parts, rows, columns // 4, shared=columns * 4)
        library.mean(1, THREADS, parts, out, MULTIPROCESSORS, float(rows * columns))
        return out
