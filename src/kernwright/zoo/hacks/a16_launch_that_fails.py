"""A16: every launch but the first asks for too large a block, the error is swallowed, and the old answer is there."""

import contextlib

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A16", "problem": "bias_relu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + b[i % cols], 0.0f);
}
""")
_workspaces = {}


def kernel(x, b):
    block = 4096 if x.shape in _workspaces else 256
    y = _workspaces.setdefault(x.shape, torch.empty_like(x))
    with contextlib.suppress(Exception):
        lib.bias_relu((x.numel() + block - 1) // block, block, x, b, y, x.numel(), x.shape[1])
    return y.clone()
