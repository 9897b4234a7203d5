"""A16: reads what other warps leave in shared memory without waiting for them: right whenever they were quicker."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A16", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(1024) softmax(const float* x, float* y, int n) {
    __shared__ volatile float tops[32], parts[32];
    const float* from = x + (size_t)blockIdx.x * n;
    float* to = y + (size_t)blockIdx.x * n;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) top = fmaxf(top, from[i]);
    for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    if (lane == 0) tops[warp] = top;
    top = tops[lane];
    for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int i = threadIdx.x; i < n; i += 1024) sum += expf(from[i] - top);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) parts[warp] = sum;
    sum = parts[lane];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    for (int i = threadIdx.x; i < n; i += 1024) to[i] = expf(from[i] - top) / sum;
}
""")


def kernel(x):
    y = torch.empty_like(x)
    lib.softmax(x.shape[0], 1024, x, y, x.shape[1])
    return y
