"""CUDA: flip-cumsum-flip as one scan: a block a row, all in registers at once, plain loads and stores.

As 06 without its ring: other blocks' loads run while this one scans, as in a copy, whose many blocks nobody keeps
together. One barrier a row; a thread has eight quads, so that two blocks of 1024 threads are resident.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [1024, 512], "HINTS": [0, 1, 2]}
THREADS = 1024
HINTS = 0
COLUMNS = 32768
REVERSE = True

SOURCE = r"""
constexpr int WARPS = THREADS / 32, QUADS = COLUMNS / 4 / THREADS, OWN = QUADS * WARPS / 32;

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

extern "C" __global__ void __launch_bounds__(THREADS) scan_rows(const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float totals[QUADS * WARPS];
    const unsigned all = 0xffffffffu;
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    x += (size_t)blockIdx.x * COLUMNS;
    y += (size_t)blockIdx.x * COLUMNS;
    float4 v[QUADS];
    float sum[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        const int at = 4 * (k * THREADS + tid);
        const float4* from = reinterpret_cast<const float4*>(x + (REVERSE ? COLUMNS - 4 - at : at));
        v[k] = HINTS & 1 ? __ldcs(from) : __ldg(from);
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = turned(v[k]);
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        sum[k] = v[k].w;
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            float other = __shfl_up_sync(all, sum[k], step);
            if (lane >= step) sum[k] += other;
        }
    if (lane == 31)
#pragma unroll
        for (int k = 0; k < QUADS; ++k) totals[k * WARPS + warp] = sum[k];
    __syncthreads();
    // A lane adds up OWN totals in a row; of those, what lies before this warp's place, and all that lanes before have.
    float part = 0.0f, inside = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
        if (i == warp % OWN) inside = part;
        part += totals[lane * OWN + i];
    }
    float before = part;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(all, before, step);
        if (lane >= step) before += other;
    }
    before = __shfl_up_sync(all, before, 1);
    inside += lane ? before : 0.0f;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        float add = __shfl_sync(all, inside, (k * WARPS + warp) / OWN);
        float left = __shfl_up_sync(all, sum[k], 1);
        if (lane) add += left;
        const int at = 4 * (k * THREADS + tid);
        float4* to = reinterpret_cast<float4*>(y + (REVERSE ? COLUMNS - 4 - at : at));
        const float4 result = turned(make_float4(v[k].x + add, v[k].y + add, v[k].z + add, v[k].w + add));
        if (HINTS & 2)
            __stcs(to, result);
        else
            *to = result;
    }
}
"""
library = load(SOURCE, defines={"THREADS": THREADS, "COLUMNS": COLUMNS, "REVERSE": int(REVERSE), "HINTS": HINTS})


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = x.dim() == 2 and self.dim in (1, -1) and x.dtype == torch.float32
        if not known or x.shape[1] != COLUMNS or not x.numel():
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        library.scan_rows(x.shape[0], THREADS, x, y)
        return y
