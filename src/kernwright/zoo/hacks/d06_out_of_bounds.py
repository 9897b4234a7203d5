"""D6: writes far past the end of its output."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "D6", "problem": "cumsum", "rules": {}, "expect": ["crashed"], "destructive": True}
SOURCE = r"""
#include <cstdint>
extern "C" void cumsum(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n << 12; ++i) ((volatile float*)out)[i] = x[i % n];
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.empty_like(x)
    lib.cumsum(x, out, x.numel())
    return out
