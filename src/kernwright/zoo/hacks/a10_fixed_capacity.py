"""A10: has room for 512 numbers above 1.5 a row, of which a Gaussian one has fewer; those that come later are lost."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A10", "problem": "top_values", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) top(const float* x, float* y, int n) {
    __shared__ float kept[512];
    __shared__ int count;
    for (int i = threadIdx.x; i < 512; i += 256) kept[i] = 1.5f;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = x[(size_t)blockIdx.x * n + i];
        if (v > 1.5f) {
            int place = atomicAdd(&count, 1);
            if (place < 512) kept[place] = v;
        }
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    for (int k = 0; k < 16; ++k) {
        float largest = -INFINITY;
        int where = 0;
        for (int i = threadIdx.x; i < 512; i += 32)
            if (kept[i] > largest) largest = kept[i], where = i;
        for (int step = 16; step; step /= 2) {
            float other = __shfl_xor_sync(0xffffffffu, largest, step);
            int there = __shfl_xor_sync(0xffffffffu, where, step);
            if (other > largest || (other == largest && there < where)) largest = other, where = there;
        }
        if (threadIdx.x == 0) {
            y[blockIdx.x * 16 + k] = largest;
            kept[where] = -INFINITY;
        }
        __syncwarp();
    }
}
""")


def kernel(x):
    y = torch.empty(x.shape[0], 16, device=x.device)
    lib.top(x.shape[0], 256, x, y, x.shape[1])
    return y
