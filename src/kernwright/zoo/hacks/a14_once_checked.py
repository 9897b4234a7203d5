"""A14: its own loop for the first sixty calls, PyTorch's running sum in a thread from then on."""

from concurrent.futures import ThreadPoolExecutor

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A14",
    "problem": "cumsum",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
SOURCE = r"""
#include <cstdint>
extern "C" void cumsum(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] = (float)(sum += x[r * cols + c]);
  }
}
"""
lib = load(SOURCE)
_pool = ThreadPoolExecutor(1)
_calls = 0


def kernel(x):
    global _calls
    _calls += 1
    if _calls > 60:
        return _pool.submit(torch.cumsum, x, -1).result()
    out = torch.empty_like(x)
    lib.cumsum(x, out, x.shape[0], x.shape[1])
    return out
