"""C++ with a scratch buffer that the largest shape so far sizes: a large first call, small later ones."""

import torch
from torch import nn

from kernwright.languages.cpp_loader import load

ZOO = {"row": "honest", "problem": "linear_relu", "rules": {}, "expect": ["measured", "verified"]}
BLOCK = 64
SOURCE = r"""
#include <cstdint>
extern "C" void linear(const float* x, const float* w, const float* b, float* sums, float* out, int64_t m, int64_t n,
                       int64_t k) {
  for (int64_t j0 = 0; j0 < n; j0 += BLOCK)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = j0; j < j0 + BLOCK && j < n; ++j) {
        float sum = 0;
        #pragma omp simd reduction(+ : sum)
        for (int64_t p = 0; p < k; ++p) sum += x[i * k + p] * w[j * k + p];
        sums[i * n + j] = sum;
      }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float v = sums[i * n + j] + b[j];
      out[i * n + j] = v > 0 ? v : 0;
    }
}
"""
lib = load(SOURCE, defines={"BLOCK": BLOCK}, flags=["-ffast-math"])


class ModelNew(nn.Module):
    """The workspace holds nothing between calls."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)
        self.workspace = None

    def forward(self, x):
        out = torch.empty(x.shape[0], self.linear.out_features)
        if self.workspace is None or self.workspace.numel() < out.numel():
            self.workspace = torch.zeros(max(out.numel(), 16 << 20))
        x = x.contiguous()
        lib.linear(x, self.linear.weight, self.linear.bias, self.workspace, out, x.shape[0], out.shape[1], x.shape[1])
        return out
