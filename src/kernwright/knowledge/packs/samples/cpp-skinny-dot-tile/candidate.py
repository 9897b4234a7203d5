"""A few rows times a matrix whose rows are contiguous along K: vectors of partial sums, nothing is packed."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"MI": [1, 2, 4], "NJ": [2, 4, 6], "LANES": [8, 16]}
MI = 4
NJ = 4
LANES = 16

SOURCE = r"""
#include <cstdint>

typedef float Vec __attribute__((vector_size(LANES * 4), aligned(4)));

static inline float across(Vec v) {
  float sum = 0.0f;
  for (int l = 0; l < LANES; ++l) sum += v[l];
  return sum;
}

// R rows of x against NJ rows of the weight: R + NJ loads for R * NJ multiply-adds, sums across lanes once at the end.
template <int R>
static void block(const float* x, const float* w, const float* bias, float* y, int64_t k, int64_t n, int64_t cols) {
  Vec sums[R][NJ] = {};
  const float* row[NJ];
  for (int j = 0; j < NJ; ++j) row[j] = w + (j < cols ? j : cols - 1) * k;
  int64_t p = 0;
  for (; p + LANES <= k; p += LANES) {
    Vec a[R];
    for (int i = 0; i < R; ++i) a[i] = *(const Vec*)(x + i * k + p);
    for (int j = 0; j < NJ; ++j) {
      const Vec b = *(const Vec*)(row[j] + p);
      for (int i = 0; i < R; ++i) sums[i][j] += a[i] * b;
    }
  }
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < R; ++i) {
      float sum = across(sums[i][j]);
      for (int64_t q = p; q < k; ++q) sum += x[i * k + q] * row[j][q];
      y[i * n + j] = sum + bias[j];
    }
}

extern "C" void linear(const float* x, const float* w, const float* bias, float* y, int64_t m, int64_t n, int64_t k) {
  #pragma omp parallel for schedule(static)
  for (int64_t j = 0; j < n; j += NJ) {
    const int64_t cols = n - j < NJ ? n - j : NJ;
    int64_t i = 0;
    for (; i + MI <= m; i += MI) block<MI>(x + i * k, w + j * k, bias + j, y + i * n + j, k, n, cols);
    for (; i < m; ++i) block<1>(x + i * k, w + j * k, bias + j, y + i * n + j, k, n, cols);
  }
}
"""
lib = load(SOURCE, defines={"MI": MI, "NJ": NJ, "LANES": LANES})


class ModelNew(torch.nn.Module):
    """linear(x)."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(features, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        hidden = self.linear.out_features
        y = x.new_empty(x.shape[0], hidden)
        lib.linear(x, self.linear.weight, self.linear.bias, y, x.shape[0], hidden, x.shape[1])
        return y
