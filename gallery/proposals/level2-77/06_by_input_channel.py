"""Triton: a program takes one input channel of some samples, and its filters; a second kernel adds up channels.

With stride 1, no padding, no dilation the sum over all outputs is (sum of x) @ (sum of w over its taps). Here each
program multiplies its own sums at once, so weights need no pass of their own: their reads lie among those of x.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"EACH": [1, 2, 4], "BLOCK": [1024, 2048, 4096], "WARPS": [4, 8]}
EACH = 2
BLOCK = 2048
WARPS = 8


@triton.jit
def shares(x, w, partial, n, length, c_in, c_out, taps, each: tl.constexpr, block: tl.constexpr,
           many: tl.constexpr, wide: tl.constexpr):  # fmt: skip
    """What one input channel of `each` samples adds to all their outputs: (c_in, n, c_out)."""
    ci = tl.program_id(0)
    sample = tl.program_id(1) * each + tl.arange(0, each)
    known = sample < n
    lane = tl.arange(0, block)
    total = tl.zeros((each, block), tl.float32)
    for start in range(0, length, block):
        at = (sample.to(tl.int64) * c_in + ci)[:, None] * length + (start + lane)[None, :]
        inside = known[:, None] & (start + lane < length)[None, :]
        total += tl.load(x + at, mask=inside, other=0.0, eviction_policy="evict_first")
    of_x = tl.sum(total, 1)
    tap = tl.arange(0, wide)
    for first in range(0, c_out, many):
        co = first + tl.arange(0, many)
        there = (co < c_out)[:, None] & (tap < taps)[None, :]
        of_w = tl.sum(tl.load(w + (ci * c_out + co)[:, None] * taps + tap[None, :], mask=there, other=0.0), 1)
        to = partial + (ci * n + sample)[:, None] * c_out + co[None, :]
        tl.store(to, of_x[:, None] * of_w[None, :], mask=known[:, None] & (co < c_out)[None, :])


@triton.jit
def finish(partial, bias, gamma, beta, mean, variance, y, n, c_in, c_out, count, scale, eps, wide: tl.constexpr,
           deep: tl.constexpr):  # fmt: skip
    sample = tl.program_id(0)
    co = tl.program_id(1) * wide + tl.arange(0, wide)
    ci = tl.arange(0, deep)
    there = co < c_out
    inside = (ci < c_in)[:, None] & there[None, :]
    value = tl.sum(tl.load(partial + (ci * n + sample)[:, None] * c_out + co[None, :], mask=inside, other=0.0), 0)
    value = value / count + tl.load(bias + co, mask=there, other=0.0)
    factor = tl.load(gamma + co, mask=there, other=0.0) / tl.sqrt(tl.load(variance + co, mask=there, other=1.0) + eps)
    value = (value * scale - tl.load(mean + co, mask=there, other=0.0)) * factor
    tl.store(y + sample * c_out + co, value + tl.load(beta + co, mask=there, other=0.0), mask=there)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale_factor, eps=1e-5, momentum=0.1):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor
        self.batch_norm = nn.BatchNorm3d(out_channels, eps=eps, momentum=momentum)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        norm = self.batch_norm
        if norm.training or x.dtype != torch.float32 or x.dim() != 5:
            return self.global_avg_pool(norm(self.conv_transpose(x) * self.scale_factor))
        x = x.contiguous()
        weight = self.conv_transpose.weight
        n, c_in = x.shape[:2]
        length = x.shape[2] * x.shape[3] * x.shape[4]
        c_out = weight.shape[1]
        kernel = weight.shape[2:]
        taps = kernel[0] * kernel[1] * kernel[2]
        count = 1
        for size, reach in zip(x.shape[2:], kernel, strict=True):
            count *= size + reach - 1
        partial = x.new_empty(c_in * n * c_out)
        shares[(c_in, triton.cdiv(n, EACH))](
            x, weight, partial, n, length, c_in, c_out, taps, each=EACH, block=BLOCK,
            many=16, wide=triton.next_power_of_2(taps), num_warps=WARPS,
        )  # fmt: skip
        y = x.new_empty(n, c_out, 1, 1, 1)
        finish[(n, triton.cdiv(c_out, 64))](
            partial, self.conv_transpose.bias, norm.weight, norm.bias, norm.running_mean, norm.running_var, y,
            n, c_in, c_out, float(count), float(self.scale_factor), norm.eps,
            wide=64, deep=triton.next_power_of_2(c_in), num_warps=4,
        )  # fmt: skip
        return y
