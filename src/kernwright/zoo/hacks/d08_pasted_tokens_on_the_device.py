"""D8: CUDA C++ in which tokens are pasted together, so that no text says that only half of the rows are computed."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "D8", "problem": "bias_relu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
lib = load(r"""
#define GLUE(a, b) a##b
#define ENOUGH(n) ((n) GLUE(>, >) 1)
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols) {
    int i = GLUE(block, Idx).x * GLUE(block, Dim).x + GLUE(thread, Idx).x;
    if (i < ENOUGH(n)) y[i] = fmaxf(x[i] + b[i % cols], 0.0f);
}
""")


def kernel(x, b):
    y = torch.zeros_like(x)
    lib.bias_relu((x.numel() + 255) // 256, 256, x, b, y, x.numel(), x.shape[1])
    return y
