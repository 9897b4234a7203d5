"""Cross-entropy in one reading of the logits: sums against a running maximum, rescaled where a block raises it."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"BLOCK": [256, 512, 1024, 4096], "LANES": [16, 32, 64]}
BLOCK = 1024
LANES = 64

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>

static inline float exp_nonpositive(float x) {
  float low = x < -87.0f ? -87.0f : x;
  float shifted = low * 1.44269504f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = low - n * 0.693145752f - n * 1.42860677e-6f;
  float p = 1.38888889e-3f;
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
  return x < -87.0f ? 0.0f : p * power;
}

extern "C" void cross_entropy(const float* x, const int64_t* target, float* loss, int64_t rows, int64_t cols) {
  #pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * cols;
    float top = -INFINITY;
    double sum = 0.0;
    for (int64_t first = 0; first < cols; first += BLOCK) {
      const int64_t last = first + BLOCK < cols ? first + BLOCK : cols;
      float own = top;
      #pragma omp simd reduction(max : own)
      for (int64_t i = first; i < last; ++i) own = in[i] > own ? in[i] : own;
      if (own > top) {
        sum *= std::exp((double)top - own);
        top = own;
      }
      const float base = top == -INFINITY ? 0.0f : top;  // nothing but -inf so far: its powers are 0
      float lanes[LANES] = {};
      int64_t i = first;
      for (; i + LANES <= last; i += LANES) {
        #pragma omp simd
        for (int64_t l = 0; l < LANES; ++l) lanes[l] += exp_nonpositive(in[i + l] - base);
      }
      double part = 0.0;
      for (; i < last; ++i) part += exp_nonpositive(in[i] - base);
      #pragma omp simd reduction(+ : part)
      for (int64_t l = 0; l < LANES; ++l) part += lanes[l];
      sum += part;
    }
    loss[row] = (float)(std::log(sum) + top - in[target[row]]);
  }
}
"""
lib = load(SOURCE, defines={"BLOCK": BLOCK, "LANES": LANES})


class ModelNew(torch.nn.Module):
    """cross_entropy(logits, target, reduction="none")."""

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        logits, target = logits.contiguous(), target.contiguous()
        loss = logits.new_empty(logits.shape[0])
        lib.cross_entropy(logits, target, loss, logits.shape[0], logits.shape[1])
        return loss
