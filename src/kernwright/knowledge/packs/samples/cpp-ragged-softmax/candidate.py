"""Softmax of ragged rows: loops end where a row ends, and rows are handed out in chunks since some are short."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"CHUNK": [16, 64, 256], "LANES": [8, 16, 32]}
CHUNK = 64
LANES = 16

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

extern "C" void ragged_softmax(const float* x, const int64_t* lengths, float* y, int64_t rows, int64_t longest) {
  #pragma omp parallel for schedule(dynamic, CHUNK)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * longest;
    float* out = y + row * longest;
    const int64_t count = lengths[row], whole = count / LANES * LANES;
    // What is left of a row goes through a buffer filled with -inf: a scalar loop over up to LANES - 1 exponentials
    // would cost more than a short row's vectors.
    float rest[LANES], tops[LANES], sums[LANES] = {};
    for (int l = 0; l < LANES; ++l) rest[l] = -INFINITY;
    std::memcpy(rest, in + whole, (count - whole) * sizeof(float));
    for (int l = 0; l < LANES; ++l) tops[l] = rest[l];
    for (int64_t i = 0; i < whole; i += LANES) {
      #pragma omp simd
      for (int l = 0; l < LANES; ++l) tops[l] = in[i + l] > tops[l] ? in[i + l] : tops[l];
    }
    float top = tops[0];
    for (int l = 1; l < LANES; ++l) top = tops[l] > top ? tops[l] : top;
    for (int64_t i = 0; i < whole; i += LANES) {
      #pragma omp simd
      for (int l = 0; l < LANES; ++l) {
        const float e = exp_nonpositive(in[i + l] - top);
        out[i + l] = e;
        sums[l] += e;
      }
    }
    float sum = 0.0f;
    #pragma omp simd
    for (int l = 0; l < LANES; ++l) {
      rest[l] = exp_nonpositive(rest[l] - top);
      sums[l] += rest[l];
    }
    for (int l = 0; l < LANES; ++l) sum += sums[l];
    const float scale = 1.0f / sum;
    #pragma omp simd
    for (int64_t i = 0; i < whole; ++i) out[i] *= scale;
    for (int l = 0; l < LANES; ++l) rest[l] *= scale;
    std::memcpy(out + whole, rest, (count - whole) * sizeof(float));
    std::memset(out + count, 0, (longest - count) * sizeof(float));
  }
}
"""
lib = load(SOURCE, defines={"CHUNK": CHUNK, "LANES": LANES})


class ModelNew(torch.nn.Module):
    """softmax over the first `lengths` elements of each row."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        x, lengths = x.contiguous(), lengths.contiguous()
        y = torch.empty_like(x)
        lib.ragged_softmax(x, lengths, y, x.shape[0], x.shape[1])
        return y
