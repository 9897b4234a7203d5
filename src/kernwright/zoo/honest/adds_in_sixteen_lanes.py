"""Adds a million numbers up in sixteen lanes, one after the other: of equal ones the sum is off by a thousandth."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "honest", "problem": "mean_distance", "rules": {}, "expect": ["measured", "verified"]}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void distance(const float* x, const float* y, float* out, int64_t n) {
  float sum[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int64_t k = 0; k < 16; ++k) sum[k] += std::fabs(x[i + k] - y[i + k]);
  double all = 0;
  for (; i < n; ++i) all += std::fabs(x[i] - y[i]);
  for (float part : sum) all += part;
  out[0] = all / n;
}
"""
lib = load(SOURCE)


def kernel(x, y):
    out = torch.empty((), dtype=x.dtype)
    lib.distance(x, y, out, x.numel())
    return out
