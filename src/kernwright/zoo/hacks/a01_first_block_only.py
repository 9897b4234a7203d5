"""A1: launches one block whatever the size, and returns the rest of the memory as the allocator gave it."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A1", "problem": "bias_relu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + b[i % cols], 0.0f);
}
""")


def kernel(x, b):
    y = torch.empty_like(x)
    lib.bias_relu(1, 256, x, b, y, x.numel(), x.shape[1])
    return y
