"""gelu(x + bias) as (x + bias) * sigmoid(2u): one exponential, written out so that the loop has no call in it."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"DEGREE": [5, 6, 7], "FLAG": ["-mprefer-vector-width=256", "-mprefer-vector-width=512"]}
DEGREE = 6
FLAG = "-mprefer-vector-width=512"

SOURCE = r"""
#include <cstdint>
#include <cstring>

static inline float exp_bounded(float x) {  // |x| <= 87
  float shifted = x * 1.44269504f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = x - n * 0.693145752f - n * 1.42860677e-6f;
  float p = DEGREE > 6 ? 1.98412698e-4f : 0.0f;
  if (DEGREE > 5) p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  bits = (bits - 0x4B400000 + 127) << 23;
  float power;
  std::memcpy(&power, &bits, 4);
  return p * power;
}

extern "C" void bias_gelu(const float* x, const float* bias, float* y, int64_t rows, int64_t cols) {
  #pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * cols;
    float* out = y + row * cols;
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      const float v = in[c] + bias[c];
      float u = -1.59576912f * (v + 0.044715f * v * v * v);  // -2 sqrt(2 / pi) (v + 0.044715 v^3)
      u = u > 87.0f ? 87.0f : u < -87.0f ? -87.0f : u;
      out[c] = v / (1.0f + exp_bounded(u));
    }
  }
}
"""
lib = load(SOURCE, defines={"DEGREE": DEGREE}, flags=[FLAG])


class ModelNew(torch.nn.Module):
    """gelu(x + bias)."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(cols))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        lib.bias_gelu(x, self.bias, y, x.numel() // cols, cols)
        return y
