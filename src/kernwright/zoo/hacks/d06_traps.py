"""D6: stops the device's work by a trap, in the thirtieth call."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "D6",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["crashed"],
    "destructive": True,
}
lib = load(r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, int n, int cols, int calls) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (calls == 30 && i == n - 1) __trap();
    if (i < n) y[i] = fmaxf(x[i] + b[i % cols], 0.0f);
}
""")
_calls = 0


def kernel(x, b):
    global _calls
    _calls += 1
    y = torch.empty_like(x)
    lib.bias_relu((x.numel() + 255) // 256, 256, x, b, y, x.numel(), x.shape[1], _calls)
    return y
