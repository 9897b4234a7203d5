"""Softmax in one pass over the row, by a maximum and a sum that are corrected as it goes."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, out += cols) {
    float top = -INFINITY, sum = 0;
    for (int64_t start = 0; start < cols; start += 64) {
      int64_t stop = start + 64 < cols ? start + 64 : cols;
      float before = top, part = 0;
      for (int64_t c = start; c < stop; ++c) top = x[c] > top ? x[c] : top;
      for (int64_t c = start; c < stop; ++c) part += out[c] = std::exp(x[c] - top);
      sum = sum * std::exp(before - top) + part;
    }
    for (int64_t c = 0; c < cols; ++c) out[c] = std::exp(x[c] - top) / sum;
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.empty_like(x)
    lib.softmax(x.contiguous(), out, x.shape[0], x.shape[1])
    return out
