"""A7: a row for each line of a grid that is 65,535 lines high at most; where there are more, the last ones are left."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "A7", "problem": "many_rows", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
extern "C" __global__ void normalise(const float* x, float* y, int cols) {
    const float* from = x + (size_t)blockIdx.y * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) sum += from[i] * from[i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    float scale = rsqrtf(sum / cols + 1e-6f);
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.y * cols + i] = from[i] * scale;
}
""")


def kernel(x):
    y = torch.empty_like(x)
    lib.normalise((1, min(x.shape[0], 65535)), 32, x, y, x.shape[1])
    return y
