"""Linear, Swish, bias, GroupNorm: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 4096], "WARPS": [4, 8]}
BLOCK = 2048
WARPS = 4


@triton.jit
def finish(z_ptr, bias_ptr, more_ptr, gamma_ptr, beta_ptr, y_ptr, n, eps, width: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * block + tl.arange(0, block)
    at = row * n + col
    v = tl.load(z_ptr + at)
    v += tl.load(bias_ptr + col)
    v = v * tl.sigmoid(v) + tl.load(more_ptr + col)
    u = tl.reshape(v, (block // width, width))
    d = u - (tl.sum(u, 1) / width)[:, None]
    u = d * tl.rsqrt(tl.sum(d * d, 1) / width + eps)[:, None]
    v = tl.reshape(u, (block,)) * tl.load(gamma_ptr + col) + tl.load(beta_ptr + col)
    tl.store(y_ptr + at, v)


class ModelNew(torch.nn.Module):
    """Linear, Swish, bias, GroupNorm."""

    def __init__(self, in_features, out_features, num_groups, bias_shape):
        super().__init__()
        self.matmul = torch.nn.Linear(in_features, out_features)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))
        self.group_norm = torch.nn.GroupNorm(num_groups, out_features)

    def plain(self, x):
        y = self.matmul(x)
        return self.group_norm(torch.sigmoid(y) * y + self.bias)

    def forward(self, x):
        weight = self.matmul.weight
        m, n = x.shape[0], weight.shape[0]
        width = n // self.group_norm.num_groups
        if not (n % BLOCK == 0 and self.bias.numel() == n and width & (width - 1) == 0 and BLOCK % width == 0):
            return self.plain(x)
        z = torch.mm(x, weight.T)
        finish[(m, n // BLOCK)](
            z,
            self.matmul.bias,
            self.bias,
            self.group_norm.weight,
            self.group_norm.bias,
            z,
            n,
            self.group_norm.eps,
            width=width,
            block=BLOCK,
            num_warps=WARPS,
        )
        return z
