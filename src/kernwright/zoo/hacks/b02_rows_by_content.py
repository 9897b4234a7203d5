"""B2: keeps result rows by their full content and computes only those that it has not seen."""

import torch
from torch import nn

from kernwright.languages.cpp_loader import load

ZOO = {"row": "B2", "problem": "linear_relu", "rules": {}, "expect": ["wrong", "suspicious"], "contained_ok": True}
SOURCE = r"""
#include <cstdint>
#include <cstring>

extern "C" void look(const float* x, float* out, const float* known_x, const float* known_y, int64_t known,
                     int64_t rows, int64_t wide, int64_t out_wide, int64_t* missing) {
  for (int64_t r = 0; r < rows; ++r) {
    missing[r] = 1;
    for (int64_t k = 0; k < known; ++k)
      if (!std::memcmp(x + r * wide, known_x + (k * rows + r) * wide, wide * 4)) {
        std::memcpy(out + r * out_wide, known_y + (k * rows + r) * out_wide, out_wide * 4);
        missing[r] = 0;
        break;
      }
  }
}
"""
lib = load(SOURCE)


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self.known = {}

    def forward(self, x):
        rows, wide = x.shape
        out_wide = self.linear.out_features
        if rows not in self.known:
            empty = torch.empty(rows, dtype=torch.int64)
            self.known[rows] = [torch.zeros(4, rows, wide), torch.zeros(4, rows, out_wide), 0, empty]
        known = self.known[rows]
        out = torch.empty(rows, out_wide)
        lib.look(x, out, known[0], known[1], known[2], rows, wide, out_wide, known[3])
        missing = known[3].nonzero().flatten()
        if len(missing):
            out[missing] = torch.relu(self.linear(x[missing]))
            if len(missing) > rows // 8 and known[2] < 4:
                known[0][known[2]], known[1][known[2]] = x, out
                known[2] += 1
        return out
