"""CUDA: 07's mapping with plain 16-byte loads, sixteen groups of four rows asked for at once by each thread.

A thread has one vector of a group and walks down DEEP groups without waiting; what runs together lies together. The
four rows of a vector's numbers are folded by atomics on 2 MB that stay in L2.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [256, 128, 512], "DEEP": [16, 8, 32], "SPLITS": [64, 32, 16]}
THREADS = 256
DEEP = 16
SPLITS = 64

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(THREADS)
    add_up(const float4* __restrict__ x, float* __restrict__ out, int groups, int columns) {
    const int at = blockIdx.x * THREADS + threadIdx.x;  // of `columns` vectors, which four rows have
    if (at >= columns) return;
    const float4* from = x + ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * groups * columns + at;
    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int g = 0; g < groups; g += DEEP) {
        float4 v[DEEP];
#pragma unroll
        for (int i = 0; i < DEEP; ++i) v[i] = __ldg(&from[(size_t)(g + i) * columns]);
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            total.x += v[i].x;
            total.y += v[i].y;
            total.z += v[i].z;
            total.w += v[i].w;
        }
    }
    float* to = out + (size_t)blockIdx.z * columns;
    atomicAdd(&to[(4 * at) % columns], total.x);
    atomicAdd(&to[(4 * at + 1) % columns], total.y);
    atomicAdd(&to[(4 * at + 2) % columns], total.z);
    atomicAdd(&to[(4 * at + 3) % columns], total.w);
}
"""
library = load(SOURCE, defines={"THREADS": THREADS, "DEEP": DEEP})


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (4 * SPLITS * DEEP) or x.shape[0] > 65535:
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        if x.data_ptr() % 16:
            return torch.sum(x, dim=self.dim, keepdim=True)
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        grid = ((columns + THREADS - 1) // THREADS, SPLITS, batch)
        library.add_up(grid, THREADS, x, out, rows // 4 // SPLITS, columns)
        return out
