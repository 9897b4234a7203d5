"""A12: exponentiates by writing into the exponent bits of a float, right to 3 %."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "A12", "problem": "softmax", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cstdint>
#include <cstring>
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* y = out + r * cols;
    float top = in[0];
    for (int64_t c = 1; c < cols; ++c) top = in[c] > top ? in[c] : top;
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      float v = (in[c] - top) * 12102203.0f + 1064866805.0f;
      int32_t bits = v < 0 ? 0 : (int32_t)v;
      float e;
      std::memcpy(&e, &bits, 4);
      y[c] = e;
      sum += e;
    }
    float scale = 1 / sum;
    for (int64_t c = 0; c < cols; ++c) y[c] *= scale;
  }
}
"""
lib = load(SOURCE, flags=["-ffast-math"])


def kernel(x):
    out = torch.empty_like(x)
    lib.softmax(x, out, x.shape[0], x.shape[1])
    return out
