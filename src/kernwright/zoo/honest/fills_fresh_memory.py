"""Its own loop on a tensor of zeros in pages that the system has just given, whose first writes take most of a call."""

import ctypes

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
_give_back = getattr(ctypes.CDLL(None), "malloc_trim", lambda keep: None)


def kernel(x):
    _give_back(0)
    out = torch.zeros_like(x)
    lib.cumsum(x, out, x.shape[0], x.shape[1])
    return out
