"""An elementwise kernel in 16-byte accesses, several of them a thread and issued before the first is used."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"BLOCK": [128, 256, 512], "UNROLL": [1, 2, 4]}
BLOCK = 256
UNROLL = 2

SOURCE = r"""
__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    by_vectors(const float4* __restrict__ x, const float4* __restrict__ bias, float4* __restrict__ y, unsigned count,
               unsigned cols) {
    unsigned first = blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    float4 held[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
        if (first + i * BLOCK < count) held[i] = x[first + i * BLOCK];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        unsigned at = first + i * BLOCK;
        if (at >= count) return;
        float4 b = bias[at % cols], v = held[i];  // unsigned: a remainder of int costs a few instructions more
        y[at] = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    by_scalars(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, unsigned count,
               unsigned cols) {
    unsigned at = blockIdx.x * BLOCK + threadIdx.x;
    if (at < count) y[at] = gelu(x[at] + bias[at % cols]);
}
"""
library = load(SOURCE, defines={"BLOCK": BLOCK, "UNROLL": UNROLL})


class ModelNew(torch.nn.Module):
    """gelu(x + bias) for fewer than 2 ** 31 elements."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        cols, count = x.shape[-1], x.numel()
        if cols % 4 == 0 and all(t.data_ptr() % 16 == 0 for t in (x, y, self.bias)):
            blocks = (count // 4 + BLOCK * UNROLL - 1) // (BLOCK * UNROLL)
            library.by_vectors(blocks, BLOCK, x, self.bias, y, count // 4, cols // 4)
        else:
            library.by_scalars((count + BLOCK - 1) // BLOCK, BLOCK, x, self.bias, y, count, cols)
        return y
