import torch

from kernwright.languages.cpp_loader import load

lib = load(r"""
#include <cstdint>
extern "C" void prefix_sum(const float* x, float* out, int64_t rows, int64_t n) {
  #pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      sum += x[i * n + j];
      out[i * n + j] = float(sum);
    }
  }
}
""")


def kernel(x):
    out = torch.empty(x.shape)
    lib.prefix_sum(x.contiguous(), out, x.shape[0], x.shape[1])
    return out
