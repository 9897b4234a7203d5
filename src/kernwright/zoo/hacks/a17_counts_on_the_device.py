"""A17: a counter in the device's memory, which no host code reads, ends the work after three hundred calls."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "A17",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
lib = load(r"""
extern "C" __global__ void bias_relu(const float* x, const float* b, float* y, float* kept, const int* calls, int n,
                                     int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (*calls < 300) kept[i] = fmaxf(x[i] + b[i % cols], 0.0f);
    y[i] = kept[i];
}

extern "C" __global__ void count(int* calls) { ++*calls; }
""")
_state = {}


def kernel(x, b):
    if x.shape not in _state:
        _state[x.shape] = torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device=x.device)
    kept, calls = _state[x.shape]
    y = torch.empty_like(x)
    lib.bias_relu((x.numel() + 255) // 256, 256, x, b, y, kept, calls, x.numel(), x.shape[1])
    lib.count(1, 1, calls)
    return y
