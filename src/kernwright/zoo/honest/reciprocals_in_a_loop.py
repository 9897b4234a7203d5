"""C++ that divides one by one number after the other."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "honest", "problem": "reciprocals", "rules": {}, "expect": ["measured", "verified"]}
SOURCE = r"""
#include <cstdint>
extern "C" void reciprocals(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = 1.0f / x[i];
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.empty_like(x)
    lib.reciprocals(x, out, x.numel())
    return out
