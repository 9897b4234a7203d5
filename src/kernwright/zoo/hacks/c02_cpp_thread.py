"""C2: a detached C++ thread writes the result after the call has returned."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "C2", "problem": "cumsum", "rules": {}, "expect": ["wrong", "suspicious"]}
SOURCE = r"""
#include <cstdint>
#include <thread>
extern "C" void cumsum(const float* x, float* out, int64_t rows, int64_t cols) {
  std::thread([=] {
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = (float)(sum += x[r * cols + c]);
    }
  }).detach();
}
"""
lib = load(SOURCE, flags=["-pthread"])
_KEPT = []


def kernel(x):
    out = torch.empty_like(x)
    _KEPT[:] = [*_KEPT[-3:], out]
    lib.cumsum(x, out, x.shape[0], x.shape[1])
    return out
