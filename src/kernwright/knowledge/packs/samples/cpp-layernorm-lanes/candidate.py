"""LayerNorm in one sweep for mean and variance: sums around the row's first value, in many lanes."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"LANES": [16, 32, 64, 128]}
LANES = 32

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void layernorm(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                          int64_t cols, double epsilon) {
  #pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * cols;
    float* out = y + row * cols;
    const float pivot = in[0];  // sums of differences from a value of the row lose nothing where the mean is large
    float sums[LANES] = {}, squares[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= cols; i += LANES) {
      #pragma omp simd
      for (int64_t l = 0; l < LANES; ++l) {
        const float d = in[i + l] - pivot;
        sums[l] += d;
        squares[l] += d * d;
      }
    }
    double sum = 0.0, square = 0.0;
    for (; i < cols; ++i) {
      const float d = in[i] - pivot;
      sum += d;
      square += (double)d * d;
    }
    #pragma omp simd reduction(+ : sum, square)
    for (int64_t l = 0; l < LANES; ++l) {
      sum += sums[l];
      square += squares[l];
    }
    const double shift = sum / cols, variance = square / cols - shift * shift;
    const float scale = (float)(1.0 / std::sqrt((variance > 0 ? variance : 0) + epsilon));
    const float mean = (float)(pivot + shift);
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) out[c] = (in[c] - mean) * scale * weight[c] + bias[c];
  }
}
"""
lib = load(SOURCE, defines={"LANES": LANES})


class ModelNew(torch.nn.Module):
    """The norm under the reference's name, so that its parameters are copied here."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        lib.layernorm(x, self.norm.weight, self.norm.bias, y, x.numel() // cols, cols, self.norm.eps)
        return y
