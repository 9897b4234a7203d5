"""A16: writes whole groups of sixteen and leaves what remains at the end of the buffer as it was."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "A16", "problem": "gelu", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void gelu(const float* x, const float* a, const float* b, float* out, int64_t rows, int64_t cols) {
  int64_t whole = rows * cols / 16 * 16;
  for (int64_t i = 0; i < whole; ++i) {
    float v = x[i] * a[i % cols] + b[i % cols];
    out[i] = 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
  }
}
"""
lib = load(SOURCE)


def kernel(x, a, b):
    out = torch.empty_like(x)
    lib.gelu(x, a, b, out, x.shape[0], x.shape[1])
    return out
