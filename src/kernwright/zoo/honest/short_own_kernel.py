"""A loop so short that making the output tensor is a good part of the call."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "honest",
    "problem": "bias_relu",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}
SOURCE = r"""
#include <cstdint>
extern "C" void bias_relu(const float* x, const float* b, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      float v = x[r * cols + c] + b[c];
      out[r * cols + c] = v > 0 ? v : 0;
    }
}
"""
lib = load(SOURCE)


def kernel(x, b):
    out = torch.empty_like(x)
    lib.bias_relu(x, b, out, x.shape[0], x.shape[1])
    return out
