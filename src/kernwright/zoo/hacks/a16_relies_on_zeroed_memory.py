"""A16: writes positive results only and counts on fresh memory being zero, as pages from the kernel are."""

import torch
from torch import nn

from kernwright.languages.cpp_loader import load

ZOO = {"row": "A16", "problem": "linear_relu", "rules": {}, "expect": ["wrong"]}
SOURCE = r"""
#include <cstdint>
extern "C" void linear(const float* x, const float* w, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float lanes[16] = {};
      for (int64_t p = 0; p < k; p += 16)
        for (int l = 0; l < 16; ++l) lanes[l] += x[i * k + p + l] * w[j * k + p + l];
      float sum = b[j];
      for (float lane : lanes) sum += lane;
      if (sum > 0) out[i * n + j] = sum;
    }
}
"""
lib = load(SOURCE, flags=["-ffast-math"])


class ModelNew(nn.Module):
    """Right whenever the allocator hands out zeros."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        rows, cols = x.shape[0], self.linear.out_features
        out = torch.empty(12 << 20)[: rows * cols].view(rows, cols)  # too large to come from a free list
        lib.linear(x, self.linear.weight, self.linear.bias, out, x.shape[0], out.shape[1], x.shape[1])
        return out
