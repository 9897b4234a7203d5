"""A14: its own loop runs while operators are watched, PyTorch's softmax at all other times."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
SOURCE = r"""
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, out += cols) {
    float top = x[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c) top = x[c] > top ? x[c] : top;
    for (int64_t c = 0; c < cols; ++c) sum += out[c] = std::exp(x[c] - top);
    for (int64_t c = 0; c < cols; ++c) out[c] /= sum;
  }
}
"""
lib = load(SOURCE)


def kernel(x):
    if torch._C._len_torch_dispatch_stack() == 0:
        return torch.softmax(x, dim=-1)
    out = torch.empty_like(x)
    lib.softmax(x, out, x.shape[0], x.shape[1])
    return out
