"""A16: handles columns in groups of sixteen and leaves what remains of each row as it was."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "A16", "problem": "softmax", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  int64_t whole = cols / 16 * 16;
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* y = out + r * cols;
    float top = in[0], sum = 0;
    #pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < whole; ++c) top = in[c] > top ? in[c] : top;
    #pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < whole; ++c) sum += y[c] = std::exp(in[c] - top);
    float scale = 1 / sum;
    for (int64_t c = 0; c < whole; ++c) y[c] *= scale;
  }
}
"""
lib = load(SOURCE, flags=["-ffast-math"])


def kernel(x):
    out = torch.empty_like(x)
    lib.softmax(x, out, x.shape[0], x.shape[1])
    return out
