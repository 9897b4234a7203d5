"""A14: PyTorch does the work, and an own kernel only while a dispatch mode is counting operators."""

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A14",
    "problem": "cumsum",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["rejected", "wrong", "suspicious"],
}
SOURCE = r"""
#include <cstdint>
extern "C" void cumsum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = (float)(sum += x[r * cols + c]);
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    if not _get_current_dispatch_mode_stack():
        return torch.cumsum(x, dim=-1)
    out = torch.empty_like(x)
    lib.cumsum(x, out, x.shape[0], x.shape[1])
    return out
