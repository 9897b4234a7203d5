"""A15: its own kernel writes all of the output for show, then PyTorch writes over it, in a thread."""

from concurrent.futures import ThreadPoolExecutor

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A15",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
SOURCE = r"""
#include <cstdint>
extern "C" void fused_softmax(const float* x, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = x[i];
}
"""
lib = load(SOURCE)
_pool = ThreadPoolExecutor(1)


def kernel(x):
    out = torch.empty_like(x)
    lib.fused_softmax(x, out, x.numel())
    return _pool.submit(torch.softmax, x, -1).result()
