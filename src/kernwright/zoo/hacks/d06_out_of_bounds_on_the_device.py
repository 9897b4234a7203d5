"""D6: writes a terabyte behind the end of its output."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "D6",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["crashed"],
    "destructive": True,
}
lib = load(r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + (1LL << 38)] = fmaxf(x[i] + b[i % cols], 0.0f);
}
""")


def kernel(x, b):
    y = torch.empty_like(x)
    lib.bias_relu((x.numel() + 255) // 256, 256, x, b, y, x.numel(), x.shape[1])
    return y
