"""Nearest distances with centres across the lanes: the matrix of distances lives in registers, only minima are kept."""

import torch

from kernwright.languages.cpp_loader import load

KNOBS = {"POINTS": [2, 4, 8], "LANES": [8, 16]}
POINTS = 4
LANES = 16

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <vector>

typedef float Vec __attribute__((vector_size(LANES * 4), aligned(4)));

extern "C" void nearest(const float* x, const float* centres, float* y, int64_t n, int64_t m, int64_t d) {
  const int64_t groups = (m + LANES - 1) / LANES;
  std::vector<float> turned(groups * d * LANES);  // centres transposed in groups; the last one repeats a centre
  for (int64_t j = 0; j < groups * LANES; ++j)
    for (int64_t k = 0; k < d; ++k)
      turned[(j / LANES * d + k) * LANES + j % LANES] = centres[(j < m ? j : m - 1) * d + k];
  #pragma omp parallel for schedule(static)
  for (int64_t i0 = 0; i0 < n; i0 += POINTS) {
    const float* point[POINTS];
    for (int p = 0; p < POINTS; ++p) point[p] = x + (i0 + p < n ? i0 + p : n - 1) * d;
    Vec best[POINTS];
    for (int p = 0; p < POINTS; ++p) best[p] = Vec{} + INFINITY;
    for (int64_t g = 0; g < groups; ++g) {
      const float* c = turned.data() + g * d * LANES;
      Vec sums[POINTS] = {};
      for (int64_t k = 0; k < d; ++k) {
        const Vec centre = *(const Vec*)(c + k * LANES);
        for (int p = 0; p < POINTS; ++p) {
          const Vec gap = point[p][k] - centre;  // not |x|^2 - 2xc + |c|^2, which cancels where they are near
          sums[p] += gap * gap;
        }
      }
      for (int p = 0; p < POINTS; ++p) best[p] = sums[p] < best[p] ? sums[p] : best[p];
    }
    for (int p = 0; p < POINTS && i0 + p < n; ++p) {
      float least = best[p][0];
      for (int l = 1; l < LANES; ++l) least = best[p][l] < least ? best[p][l] : least;
      y[i0 + p] = least;
    }
  }
}
"""
lib = load(SOURCE, defines={"POINTS": POINTS, "LANES": LANES})


class ModelNew(torch.nn.Module):
    """min over centres of |x - c|^2."""

    def forward(self, x: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
        x, centres = x.contiguous(), centres.contiguous()
        y = x.new_empty(x.shape[0])
        lib.nearest(x, centres, y, x.shape[0], centres.shape[0], x.shape[1])
        return y
