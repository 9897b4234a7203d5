"""Linear, GELU, softmax: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"WARPS": [8, 16]}
WARPS = 8


@triton.jit
def finish(z_ptr, bias_ptr, y_ptr, n, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, block)
    inside = col < n
    at = row * n + col
    v = tl.load(z_ptr + at, mask=inside, other=0.0)
    v += tl.load(bias_ptr + col, mask=inside, other=0.0)
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    v = tl.where(inside, v, -float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y_ptr + at, e * (1.0 / tl.sum(e, 0)), mask=inside)


class ModelNew(torch.nn.Module):
    """Linear, GELU, softmax."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features)

    def plain(self, x):
        return torch.nn.functional.softmax(torch.nn.functional.gelu(self.linear(x)), dim=1)

    def forward(self, x):
        weight = self.linear.weight
        m, n = x.shape[0], weight.shape[0]
        z = torch.mm(x, weight.T)
        finish[(m,)](z, self.linear.bias, z, n, block=triton.next_power_of_2(n), num_warps=WARPS)
        return z
