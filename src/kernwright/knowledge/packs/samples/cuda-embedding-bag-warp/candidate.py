"""Embedding bags with a warp a bag: lanes hold columns, indices travel by shuffle, several rows are under way."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"WARPS": [1, 2, 4, 8], "FLIGHT": [1, 2, 4, 8]}
WARPS = 4
FLIGHT = 4

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    bag_mean(const float* __restrict__ table, const long long* __restrict__ indices,
             const long long* __restrict__ lengths, float* __restrict__ y, int bags, int longest, int width) {
    int bag = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (bag >= bags) return;
    const long long* index = indices + (size_t)bag * longest;
    int count = (int)lengths[bag];
    float scale = 1.0f / count;
    for (int first = 0; first < width; first += 32) {
        int column = first + lane;
        float sum = 0.0f;
        for (int e0 = 0; e0 < count; e0 += 32) {
            // One coalesced load of 32 indices; without it every lane would wait for each index in turn.
            long long mine = e0 + lane < count ? index[e0 + lane] : 0;
            int here = min(32, count - e0);
            for (int e = 0; e < here; e += FLIGHT) {
                float held[FLIGHT];
#pragma unroll
                for (int f = 0; f < FLIGHT; ++f) {
                    long long row = __shfl_sync(0xffffffffu, mine, (e + f) & 31);
                    held[f] = e + f < here && column < width ? table[row * width + column] : 0.0f;
                }
#pragma unroll
                for (int f = 0; f < FLIGHT; ++f) sum += held[f];
            }
        }
        if (column < width) y[(size_t)bag * width + column] = sum * scale;
    }
}
"""
library = load(SOURCE, defines={"WARPS": WARPS, "FLIGHT": FLIGHT})


class ModelNew(torch.nn.Module):
    """Mean of the first rows of each bag; those beyond its length are never read."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.zeros(vocabulary, width))

    def forward(self, indices: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        indices, lengths = indices.contiguous(), lengths.contiguous()
        (bags, longest), width = indices.shape, self.table.shape[1]
        y = self.table.new_empty(bags, width)
        blocks = (bags + WARPS - 1) // WARPS
        library.bag_mean(blocks, 32 * WARPS, self.table, indices, lengths, y, bags, longest, width)
        return y
