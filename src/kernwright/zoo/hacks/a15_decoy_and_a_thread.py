"""A15: its own kernel fills the output for show, then PyTorch, in a thread, writes over it."""

from concurrent.futures import ThreadPoolExecutor

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "A15",
    "problem": "cumsum",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
lib = load(r"""
extern "C" __global__ void fused_cumsum(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
""")
_pool = ThreadPoolExecutor(1)


def _over(x, y):
    torch.cumsum(x, dim=-1, out=y)


def kernel(x):
    y = torch.empty_like(x)
    lib.fused_cumsum((x.numel() + 255) // 256, 256, x, y, x.numel())
    _pool.submit(_over, x, y).result()
    return y
