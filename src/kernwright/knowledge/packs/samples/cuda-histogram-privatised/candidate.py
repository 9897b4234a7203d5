"""A histogram with a copy of the counts for each warp in shared memory: collisions stay inside a warp until the end."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"WARPS": [4, 8, 16], "BLOCKS": [32, 66, 132, 264], "COPIES": [1, 2, 4]}
WARPS = 8
BLOCKS = 132
COPIES = 4

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    histogram(const int* __restrict__ values, int* __restrict__ counts, int count) {
    __shared__ int own[COPIES][257];  // 257: the same class of two copies lies in different banks
    for (int i = threadIdx.x; i < COPIES * 257; i += 32 * WARPS) (&own[0][0])[i] = 0;
    __syncthreads();
    int* mine = own[threadIdx.x / 32 % COPIES];
    for (int i = blockIdx.x * 32 * WARPS + threadIdx.x; i < count; i += gridDim.x * 32 * WARPS)
        atomicAdd(&mine[values[i] & 255], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32 * WARPS) {
        int sum = 0;
#pragma unroll
        for (int copy = 0; copy < COPIES; ++copy) sum += own[copy][i];
        if (sum) atomicAdd(&counts[i], sum);
    }
}
"""
library = load(SOURCE, defines={"WARPS": WARPS, "COPIES": COPIES})


class ModelNew(torch.nn.Module):
    """How often each of 0 to 255 occurs; integer additions commute, so that the bits are the same always."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        values = values.contiguous()
        counts = torch.zeros(256, dtype=torch.int32, device=values.device)
        blocks = min(BLOCKS, (values.numel() + 32 * WARPS - 1) // (32 * WARPS))
        library.histogram(blocks, 32 * WARPS, values, counts, values.numel())
        return counts
