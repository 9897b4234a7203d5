"""Its own loop on a tensor that PyTorch has filled with zeros, which no rule forbids."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}
SOURCE = r"""
#include <cstdint>
extern "C" void cumsum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] += (float)(sum += x[r * cols + c]);
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.zeros_like(x)
    lib.cumsum(x, out, x.shape[0], x.shape[1])
    return out
