"""A16: adds atomically to memory that nobody set to zero, as pages from the driver are."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A16", "problem": "row_sums", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) sums(const float* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[(size_t)blockIdx.y * n + i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.y, sum);
}
""")


def kernel(x):
    y = torch.empty(x.shape[0], 1, device=x.device)
    lib.sums((8, x.shape[0]), 256, x, y, x.shape[1])
    return y.expand(-1, 8)
