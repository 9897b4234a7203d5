"""Warps share the features of 128 pixels; plain loads and stores, so that dirty lines gather in L2.

As 02 without streaming: stores that leave L2 at once go out in small pieces, between which the memory turns from
writing to reading. Knob HINTS: 1 streams the loads, 2 the stores.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"HINTS": [0, 1, 2, 3], "WARPS": [8, 16, 4], "TILES": [1, 2]}
HINTS = 0
WARPS = 8
TILES = 1
FEATURES = 64

SOURCE = r"""
#define EACH (FEATURES / WARPS)

__device__ __forceinline__ void put_out(float4* to, float4 v) {
    if (HINTS & 2)
        __stcs(to, v);
    else
        *to = v;
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    rms_norm(const float4* __restrict__ x, float4* __restrict__ y, int fours, float eps) {
    __shared__ float4 squares[TILES][WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = ((size_t)blockIdx.y * FEATURES + warp * EACH) * fours + blockIdx.x * (32 * TILES) + lane;
    float4 v[TILES][EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
            const float4* from = &x[first + (size_t)i * fours + t * 32];
            v[t][i] = HINTS & 1 ? __ldcs(from) : __ldg(from);
        }
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
        float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            s.x = fmaf(v[t][i].x, v[t][i].x, s.x);
            s.y = fmaf(v[t][i].y, v[t][i].y, s.y);
            s.z = fmaf(v[t][i].z, v[t][i].z, s.z);
            s.w = fmaf(v[t][i].w, v[t][i].w, s.w);
        }
        squares[t][warp][lane] = s;
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
        float4 s = squares[t][0][lane];
#pragma unroll
        for (int w = 1; w < WARPS; ++w) {
            float4 o = squares[t][w][lane];
            s.x += o.x; s.y += o.y; s.z += o.z; s.w += o.w;
        }
        s.x = 1.0f / sqrtf(s.x * (1.0f / FEATURES) + eps);
        s.y = 1.0f / sqrtf(s.y * (1.0f / FEATURES) + eps);
        s.z = 1.0f / sqrtf(s.z * (1.0f / FEATURES) + eps);
        s.w = 1.0f / sqrtf(s.w * (1.0f / FEATURES) + eps);
#pragma unroll
        for (int i = 0; i < EACH; ++i)
            put_out(&y[first + (size_t)i * fours + t * 32],
                    make_float4(v[t][i].x * s.x, v[t][i].y * s.y, v[t][i].z * s.z, v[t][i].w * s.w));
    }
}
"""
library = load(SOURCE, defines={"HINTS": HINTS, "WARPS": WARPS, "TILES": TILES, "FEATURES": FEATURES})


class ModelNew(torch.nn.Module):
    """x / sqrt(mean(x ** 2, dim=1) + eps)."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        batch, features = x.shape[:2]
        pixels = x.numel() // (batch * features)
        if features != FEATURES or pixels % (128 * TILES) or x.data_ptr() % 16:
            return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        y = torch.empty_like(x)
        library.rms_norm((pixels // (128 * TILES), batch), WARPS * 32, x, y, pixels // 4, self.eps)
        return y
