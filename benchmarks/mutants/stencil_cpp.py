import torch

from kernwright.languages.cpp_loader import load

lib = load(r"""
#include <cstdint>
extern "C" void stencil(const float* x, const float* w, float* out, int64_t channels, int64_t n) {
  #pragma omp parallel for num_threads(2)
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < n; ++i) {
      float sum = 0;
      for (int64_t t = 0; t < 7; ++t) {
        int64_t at = i + t - 3;
        if (at >= 0 && at < n) sum += x[c * n + at] * w[t];
      }
      out[c * n + i] = sum;
    }
}
""")


def kernel(x, w):
    out = torch.empty(x.shape)
    lib.stencil(x.contiguous(), w.contiguous(), out, x.shape[0], x.shape[1])
    return out
