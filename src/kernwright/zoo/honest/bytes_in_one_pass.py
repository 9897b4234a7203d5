"""Truth values and bytes of one number after the other."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "honest", "problem": "picture", "rules": {}, "expect": ["measured", "verified"]}
SOURCE = r"""
#include <cstdint>
extern "C" void picture(const float* x, uint8_t* bright, uint8_t* bytes, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i];
    bright[i] = v > 0.25f;
    v = v < 0 ? 0 : v > 1 ? 1 : v;
    bytes[i] = v != v ? 0 : (uint8_t)(v * 255);
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    bright, bytes_ = (torch.empty(x.shape, dtype=torch.uint8) for _ in range(2))
    lib.picture(x.contiguous(), bright, bytes_, x.numel())
    return bright.view(torch.bool), bytes_
