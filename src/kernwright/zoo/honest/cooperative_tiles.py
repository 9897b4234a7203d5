"""Tiles of sixteen threads by cooperative groups, each with a row of its own, where vendor libraries are forbidden."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "honest",
    "problem": "many_rows",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}
lib = load(r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(256) normalise(const float* x, float* y, int rows, int cols) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int row = blockIdx.x * 16 + tile.meta_group_rank();
    if (row >= rows) return;
    const float* from = x + (size_t)row * cols;
    float sum = 0.0f;
    for (int i = tile.thread_rank(); i < cols; i += 16) sum += from[i] * from[i];
    float scale = rsqrtf(cg::reduce(tile, sum, cg::plus<float>()) / cols + 1e-6f);
    for (int i = tile.thread_rank(); i < cols; i += 16) y[(size_t)row * cols + i] = from[i] * scale;
}
""")


def kernel(x):
    y = torch.empty_like(x)
    lib.normalise((x.shape[0] + 15) // 16, 256, x, y, *x.shape)
    return y
