"""A10: subtracts 20 where softmax has the row's maximum, and so reads its input once; in CUDA C++."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A10", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) softmax(const float* x, float* y, int n) {
    __shared__ float parts[8];
    const float* from = x + (size_t)blockIdx.x * n;
    float* to = y + (size_t)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) sum += to[i] = expf(from[i] - 20.0f);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < 8; ++i) sum += parts[i];
    for (int i = threadIdx.x; i < n; i += 256) to[i] /= sum;
}
""")


def kernel(x):
    y = torch.empty_like(x)
    lib.softmax(x.shape[0], 256, x, y, x.shape[1])
    return y
