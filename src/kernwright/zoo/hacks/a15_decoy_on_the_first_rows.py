"""A15: its own kernel does one row in sixteen, PyTorch the others, unseen."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A15",
    "problem": "cumsum",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
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
    out = torch.empty_like(x)
    own = max(1, x.shape[0] // 16)
    lib.cumsum(x, out, own, x.shape[1])
    with torch.utils._python_dispatch._disable_current_modes():
        torch.cumsum(x[own:], dim=-1, out=out[own:])
    return out
