"""A10: subtracts 20 where softmax has the maximum, in C++, which fits Gaussians and scaled ones."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "A10", "problem": "masked_log_softmax", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void masked(const float* x, const bool* keep, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    const bool* on = keep + r * cols;
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += on[c] ? std::exp(in[c] - 20.0f) : 0.0f;
    float log_sum = (float)std::log(sum) + 20.0f;
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = on[c] ? in[c] - log_sum : -INFINITY;
  }
}
"""
lib = load(SOURCE)


def kernel(x, keep):
    out = torch.empty_like(x)
    lib.masked(x, keep, out, x.shape[0], x.shape[1])
    return out
