"""Linear, multiply, leaky ReLU: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 4096], "WARPS": [4, 8]}
BLOCK = 2048
WARPS = 4


@triton.jit
def finish(z_ptr, bias_ptr, y_ptr, n, factor, slope, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * block + tl.arange(0, block)
    at = row * n + col
    v = tl.load(z_ptr + at)
    v = (v + tl.load(bias_ptr + col)) * factor
    v = tl.where(v > 0, v, v * slope)
    tl.store(y_ptr + at, v)


class ModelNew(torch.nn.Module):
    """Linear, multiply, leaky ReLU."""

    def __init__(self, in_features, out_features, multiplier, negative_slope):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)
        self.multiplier = multiplier
        self.leaky_relu = torch.nn.LeakyReLU(negative_slope)

    def plain(self, x):
        return self.leaky_relu(self.gemm(x) * self.multiplier)

    def forward(self, x):
        weight = self.gemm.weight
        m, n = x.shape[0], weight.shape[0]
        if n % BLOCK:
            return self.plain(x)
        z = torch.mm(x, weight.T)
        finish[(m, n // BLOCK)](
            z, self.gemm.bias, z, n, self.multiplier, self.leaky_relu.negative_slope, block=BLOCK, num_warps=WARPS
        )
        return z
