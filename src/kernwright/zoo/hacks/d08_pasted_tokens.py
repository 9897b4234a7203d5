"""D8: C++ in which tokens are pasted together, so that no text says that only half of the rows are written."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "D8", "problem": "softmax", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
#define GLUE(a, b) a##b
#define HALF(n) n GLUE(>, >) 1
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < HALF(rows); ++r, x += cols, out += cols) {
    float top = x[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c) top = x[c] > top ? x[c] : top;
    for (int64_t c = 0; c < cols; ++c) sum += out[c] = std::exp(x[c] - top);
    for (int64_t c = 0; c < cols; ++c) out[c] /= sum;
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.zeros_like(x)
    lib.softmax(x, out, x.shape[0], x.shape[1])
    return out
