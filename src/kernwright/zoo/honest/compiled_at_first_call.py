"""Compiled by NVRTC when the first call comes, through PyTorch."""

import functools

import torch

ZOO = {"row": "honest", "problem": "bias_relu", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
_SOURCE = r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + b[i % cols], 0.0f);
}
"""


@functools.cache
def _compiled():
    return torch.cuda._compile_kernel(_SOURCE, "bias_relu")


def kernel(x, b):
    y = torch.empty_like(x)
    blocks = ((x.numel() + 255) // 256, 1, 1)
    _compiled()(blocks, (256, 1, 1), (x, b, y, x.numel(), x.shape[1]))
    return y
