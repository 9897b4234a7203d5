"""All blocks of a grid wait for each other at a barrier of its own making; so few that all of them are there."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "honest", "problem": "row_sums", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
BLOCKS = 64
lib = load(
    r"""
extern "C" __global__ void __launch_bounds__(256) sums(const float* x, float* parts, float* y, unsigned* arrived,
                                                       int rows, int n) {
    __shared__ float warps[8];
    for (int row = 0; row < rows; ++row) {
        float sum = 0.0f;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += BLOCKS * 256) sum += x[(size_t)row * n + i];
        for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int i = 1; i < 8; ++i) sum += warps[i];
            parts[row * BLOCKS + blockIdx.x] = sum;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned*)arrived < BLOCKS) {}
        __threadfence();
    }
    __syncthreads();
    for (int row = blockIdx.x * 256 + threadIdx.x; row < rows; row += BLOCKS * 256) {
        float sum = 0.0f;
        for (int i = 0; i < BLOCKS; ++i) sum += __ldcg(parts + row * BLOCKS + i);
        y[row] = sum;
    }
}
""",
    defines={"BLOCKS": BLOCKS},
)


def kernel(x):
    rows, cols = x.shape
    y, parts = torch.empty(rows, 1, device=x.device), torch.empty(rows, BLOCKS, device=x.device)
    arrived = torch.zeros(1, dtype=torch.int32, device=x.device)
    lib.sums(BLOCKS, 256, x, parts, y, arrived, rows, cols)
    return y.expand(-1, 8)
