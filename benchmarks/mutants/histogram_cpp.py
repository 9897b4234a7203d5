import torch

from kernwright.languages.cpp_loader import load

lib = load(r"""
#include <cstdint>
extern "C" void histogram(const int64_t* ids, int64_t* counts, int64_t n, int64_t bins) {
  for (int64_t b = 0; b < bins; ++b) counts[b] = 0;
  #pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < n; ++i) {
    #pragma omp atomic
    counts[ids[i]] += 1;
  }
}
""")


def kernel(ids, bins):
    out = torch.empty(bins, dtype=torch.int64)
    lib.histogram(ids.contiguous(), out, ids.numel(), bins)
    return out
