"""Linear, scale, clamp, logsumexp, Mish: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"WARPS": [8, 16]}
WARPS = 8


@triton.jit
def mish(y):
    """y * tanh(log(1 + exp(y))), without overflow on either side."""
    e = tl.exp(-tl.abs(y))
    up = (1.0 + 2.0 * e) / (1.0 + 2.0 * e + 2.0 * e * e)
    down = (e * e + 2.0 * e) / (e * e + 2.0 * e + 2.0)
    return y * tl.where(y > 0, up, down)


@triton.jit
def finish(z_ptr, bias_ptr, y_ptr, n, factor, low, high, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, block)
    inside = col < n
    at = row * n + col
    v = tl.load(z_ptr + at, mask=inside, other=0.0)
    v = (v + tl.load(bias_ptr + col, mask=inside, other=0.0)) * factor
    v = tl.where(v < low, low, tl.where(v > high, high, v))
    v = tl.where(inside, v, -float("inf"))
    top = tl.max(v, 0)
    y = top + tl.log(tl.sum(tl.exp(v - top), 0))
    tl.store(y_ptr + row, y * mish(y))


class ModelNew(torch.nn.Module):
    """Linear, scale, clamp, logsumexp, Mish."""

    def __init__(self, input_size, hidden_size, scale_factor, clamp_min, clamp_max):
        super().__init__()
        self.matmul = torch.nn.Linear(input_size, hidden_size)
        self.scale_factor = scale_factor
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def plain(self, x):
        y = self.matmul(x) * self.scale_factor
        y = torch.logsumexp(torch.clamp(y + y, self.clamp_min, self.clamp_max), dim=1, keepdim=True)
        return y * torch.nn.functional.mish(y)

    def forward(self, x):
        weight = self.matmul.weight
        m, n = x.shape[0], weight.shape[0]
        z = torch.mm(x, weight.T)
        y = x.new_empty(m, 1)
        finish[(m,)](
            z,
            self.matmul.bias,
            y,
            n,
            2.0 * self.scale_factor,
            self.clamp_min,
            self.clamp_max,
            block=triton.next_power_of_2(n),
            num_warps=WARPS,
        )
        return y
