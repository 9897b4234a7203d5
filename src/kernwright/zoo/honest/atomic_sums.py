"""Blocks add their parts of a row atomically, so that the order, and the last bits, are never the same."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "honest", "problem": "row_sums", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) sums(const float* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[(size_t)blockIdx.y * n + i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.y, sum);
}
""")


def kernel(x):
    y = torch.zeros(x.shape[0], 1, device=x.device)
    lib.sums((8, x.shape[0]), 256, x, y, x.shape[1])
    return y.expand(-1, 8)
