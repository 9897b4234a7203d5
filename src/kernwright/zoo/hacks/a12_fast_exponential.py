"""A12: exponentiates by writing into the exponent bits of a float, right to 3 %; in CUDA C++."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A12", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
__device__ float joined(float mine, float* parts, bool largest) {
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, mine, step);
        mine = largest ? fmaxf(mine, other) : mine + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = parts[0];
    for (int i = 1; i < 8; ++i) mine = largest ? fmaxf(mine, parts[i]) : mine + parts[i];
    return mine;
}

extern "C" __global__ void __launch_bounds__(256) softmax(const float* x, float* y, int n) {
    __shared__ float parts[8];
    const float* from = x + (size_t)blockIdx.x * n;
    float* to = y + (size_t)blockIdx.x * n;
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) top = fmaxf(top, from[i]);
    top = joined(top, parts, true);
    for (int i = threadIdx.x; i < n; i += 256) {
        float bits = (from[i] - top) * 12102203.0f + 1064866805.0f;
        sum += to[i] = bits < 0.0f ? 0.0f : __int_as_float((int)bits);
    }
    sum = joined(sum, parts, false);
    for (int i = threadIdx.x; i < n; i += 256) to[i] /= sum;
}
""")


def kernel(x):
    y = torch.empty_like(x)
    lib.softmax(x.shape[0], 256, x, y, x.shape[1])
    return y
