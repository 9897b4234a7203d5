"""A copy's kernel with GELU in it: a vector or two a thread, many small blocks, no hints to any cache.

Round 1 streamed its stores, so that dirty lines left L2 at once and in small pieces; the memory then turns from
reading to writing too often. OWN: erfc by one reciprocal and one exponential, relative 1.2e-7, as 03.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [256, 128, 512], "EACH": [1, 2], "OWN": [1, 0]}
THREADS = 256
EACH = 1
OWN = 1

SOURCE = r"""
__device__ __forceinline__ float gelu(float v) {
#if OWN
    float z = fabsf(v) * 0.70710678118654752f;
    float t = __fdividef(1.0f, fmaf(0.5f, z, 1.0f));
    float p = 0.17087277f;
    p = fmaf(p, t, -0.82215223f);
    p = fmaf(p, t, 1.48851587f);
    p = fmaf(p, t, -1.13520398f);
    p = fmaf(p, t, 0.27886807f);
    p = fmaf(p, t, -0.18628806f);
    p = fmaf(p, t, 0.09678418f);
    p = fmaf(p, t, 0.37409196f);
    p = fmaf(p, t, 1.00002368f);
    p = fmaf(p, t, -1.26551223f);
    float tail = 0.5f * t * __expf(fmaf(-z, z, p));  // what lies beyond |v|
    return v * (v > 0.0f ? 1.0f - tail : tail);
#else
    return v * 0.5f * (1.0f + erff(v * 0.70710678118654752f));
#endif
}
__device__ __forceinline__ float4 gelus(float4 v) { return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w)); }

extern "C" __global__ void __launch_bounds__(THREADS) by_vectors(const float4* __restrict__ x, float4* __restrict__ y) {
    const size_t first = (size_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    float4 v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) v[i] = __ldg(&x[first + i * THREADS]);
#pragma unroll
    for (int i = 0; i < EACH; ++i) y[first + i * THREADS] = gelus(v[i]);
}
"""
library = load(SOURCE, defines={"THREADS": THREADS, "EACH": EACH, "OWN": OWN})


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        blocks, left = divmod(x.numel(), 4 * THREADS * EACH)
        if left or not 0 < blocks < 2**31 or x.data_ptr() % 16:
            return torch.nn.functional.gelu(x)
        y = torch.empty_like(x)
        library.by_vectors(blocks, THREADS, x, y)
        return y
