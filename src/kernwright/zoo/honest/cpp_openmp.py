"""C++ with an OpenMP loop over rows."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "honest", "problem": "softmax", "rules": {}, "expect": ["measured", "verified"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  #pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* y = out + r * cols;
    float top = in[0], sum = 0;
    #pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < cols; ++c) top = in[c] > top ? in[c] : top;
    #pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < cols; ++c) sum += y[c] = std::exp(in[c] - top);
    float scale = 1 / sum;
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) y[c] *= scale;
  }
}
"""
lib = load(SOURCE, flags=["-ffast-math"])


def kernel(x):
    out = torch.empty_like(x)
    lib.softmax(x, out, x.shape[0], x.shape[1])
    return out
