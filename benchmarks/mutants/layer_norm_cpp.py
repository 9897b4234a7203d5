import torch

from kernwright.languages.cpp_loader import load

lib = load(r"""
#include <cmath>
#include <cstdint>
extern "C" void layer_norm(const float* x, const float* g, const float* b, float* out, int64_t rows, int64_t n) {
  #pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[i * n + j];
    float mean = sum / n;
    float square = 0;
    for (int64_t j = 0; j < n; ++j) square += (x[i * n + j] - mean) * (x[i * n + j] - mean);
    float scale = 1.0f / sqrtf(square / n + 1e-5f);
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = (x[i * n + j] - mean) * scale * g[j] + b[j];
  }
}
""")


def kernel(x, g, b):
    out = torch.empty(x.shape)
    lib.layer_norm(x.contiguous(), g.contiguous(), b.contiguous(), out, x.shape[0], x.shape[1])
    return out
