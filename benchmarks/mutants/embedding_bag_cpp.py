import torch

from kernwright.languages.cpp_loader import load

lib = load(r"""
#include <cstdint>
extern "C" void bags(const int64_t* ids, const float* weights, const float* table, float* out, int64_t bags,
                     int64_t size, int64_t width) {
  #pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < bags; ++i)
    for (int64_t j = 0; j < width; ++j) {
      float sum = 0;
      for (int64_t s = 0; s < size; ++s) sum += weights[i * size + s] * table[ids[i * size + s] * width + j];
      out[i * width + j] = sum;
    }
}
""")


def kernel(ids, weights, table):
    out = torch.empty(ids.shape[0], table.shape[1])
    lib.bags(
        ids.contiguous(), weights.contiguous(), table.contiguous(), out, ids.shape[0], ids.shape[1], table.shape[1]
    )
    return out
