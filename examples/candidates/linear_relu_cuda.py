"""relu(x @ weight.T + bias) in CUDA C++, in tiles through dynamic shared memory; for the zoo's `linear_relu`."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"TILE": [8, 16, 32]}
TILE = 16

SOURCE = r"""
// A block computes TILE x TILE outputs; the columns beyond a tile keep shared memory free of bank conflicts.
extern __shared__ float memory[];

extern "C" __global__ void linear_relu(const float* x, const float* weight, const float* bias, float* y,
                                       int rows, int features, int hidden) {
    float (*left)[TILE + 1] = reinterpret_cast<float (*)[TILE + 1]>(memory);
    float (*right)[TILE + 1] = left + TILE;
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    int weight_row = blockIdx.x * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < features; start += TILE) {
        int k = start + threadIdx.x;
        left[threadIdx.y][threadIdx.x] = row < rows && k < features ? x[(size_t)row * features + k] : 0.0f;
        right[threadIdx.y][threadIdx.x] =
            weight_row < hidden && k < features ? weight[(size_t)weight_row * features + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += left[threadIdx.y][i] * right[threadIdx.x][i];
        __syncthreads();
    }
    if (row < rows && column < hidden) y[(size_t)row * hidden + column] = fmaxf(sum + bias[column], 0.0f);
}
"""

library = load(SOURCE, defines={"TILE": TILE})


class ModelNew(torch.nn.Module):
    """A linear layer and ReLU."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(features, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (rows, features), hidden = x.shape, self.linear.out_features
        y = x.new_empty(rows, hidden)
        grid = ((hidden + TILE - 1) // TILE, (rows + TILE - 1) // TILE)
        shared = 2 * TILE * (TILE + 1) * 4
        arguments = (x.contiguous(), self.linear.weight, self.linear.bias, y, rows, features, hidden)
        library.linear_relu(grid, (TILE, TILE), *arguments, shared=shared)
        return y
