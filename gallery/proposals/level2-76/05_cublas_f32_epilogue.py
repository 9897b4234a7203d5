"""product, bias, ReLU: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 4096], "WARPS": [4, 8]}
BLOCK = 2048
WARPS = 4


@triton.jit
def finish(z_ptr, bias_ptr, y_ptr, n, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * block + tl.arange(0, block)
    at = row * n + col
    v = tl.load(z_ptr + at)
    v += tl.load(bias_ptr + col)
    v = tl.where(v < 0, 0.0, v)
    tl.store(y_ptr + at, v)


class ModelNew(torch.nn.Module):
    """product, bias, ReLU."""

    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))

    def plain(self, x):
        return torch.relu(self.gemm(x) + self.bias)

    def forward(self, x):
        weight = self.gemm.weight
        m, n = x.shape[0], weight.shape[0]
        if not (n % BLOCK == 0 and self.bias.numel() == n):
            return self.plain(x)
        z = torch.mm(x, weight.T)
        finish[(m, n // BLOCK)](z, self.bias, z, n, block=BLOCK, num_warps=WARPS)
        return z
