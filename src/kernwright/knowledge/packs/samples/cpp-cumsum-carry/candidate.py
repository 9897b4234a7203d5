"""A scan along memory whose only serial step is one addition a block: shifted additions inside, a carry between."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"LANES": [8, 16], "UNROLL": [1, 2, 4]}
LANES = 16
UNROLL = 2

SOURCE = r"""
#include <cstdint>

typedef float Vec __attribute__((vector_size(LANES * 4), aligned(4)));
typedef int Index __attribute__((vector_size(LANES * 4)));

template <int SHIFT>
static inline Vec shifted(Vec v) {  // lane l takes lane l - SHIFT, zero where there is none
  Vec zero = {};
  Index from;
  for (int l = 0; l < LANES; ++l) from[l] = l >= SHIFT ? l - SHIFT : LANES;
  return __builtin_shuffle(v, zero, from);
}

static inline Vec scanned(Vec v) {
  v += shifted<1>(v);
  v += shifted<2>(v);
  v += shifted<4>(v);
  if (LANES > 8) v += shifted<8>(v);
  return v;
}

extern "C" void masked_cumsum(const float* x, const uint8_t* mask, float* y, int64_t rows, int64_t cols) {
  #pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * cols;
    const uint8_t* keep = mask + row * cols;
    float* out = y + row * cols;
    double carry = 0.0;  // one addition a block: twice the width costs nothing here
    int64_t i = 0;
    for (; i + LANES * UNROLL <= cols; i += LANES * UNROLL) {
      Vec part[UNROLL];
      for (int u = 0; u < UNROLL; ++u) {  // these do not depend on one another
        alignas(64) float chosen[LANES];
        #pragma omp simd
        for (int l = 0; l < LANES; ++l) chosen[l] = in[i + u * LANES + l] * (float)keep[i + u * LANES + l];
        part[u] = scanned(*(Vec*)chosen);
      }
      for (int u = 0; u < UNROLL; ++u) {
        *(Vec*)(out + i + u * LANES) = part[u] + (float)carry;
        carry += part[u][LANES - 1];
      }
    }
    for (; i < cols; ++i) {
      carry += in[i] * (float)keep[i];
      out[i] = (float)carry;
    }
  }
}
"""
lib = load(SOURCE, defines={"LANES": LANES, "UNROLL": UNROLL})


class ModelNew(torch.nn.Module):
    """cumsum(x * mask, dim=-1)."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x, mask = x.contiguous(), mask.contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        lib.masked_cumsum(x, mask, y, x.numel() // cols, cols)
        return y
