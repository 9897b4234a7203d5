# Exported by Kernwright 0.1.0: node 7 of run 20261122-level2-77-convtranspose3d-scale-d289, by Claude (Anthropic).
# problem: level2_77_ConvTranspose3d_Scale_BatchNorm_GlobalAvgPool (d274589191f3abbd6475ac3e2428c11d)
# verdict: verified
# speedup: 1268.858x [1197.438, 1344.537], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# note: candidate counts 2.6 µs more than the 29.3 µs that its calls show: in long messages of up to 12 calls each takes 28.1 ± 10.0 µs (workload 'default')
# evidence: kernel.bundle.json, bundle 043be05c1e2242e4c709177c710294410176b4bad96e7a935bf1ff8d44f44c6f
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: the first kernel has whole rows of x and nothing else, the second sums weights where it needs them.

One load of a whole row a program (64 KB), no loop, no second kind of work in the first kernel; the second has 128
programs, each with all weights of one output channel (32 KB) and all samples.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"WARPS": [8, 16, 32], "END_WARPS": [4, 8]}
WARPS = 16
END_WARPS = 8


@triton.jit
def sums(x, of_x, length, block: tl.constexpr):
    """A whole row: all of it under way at once."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    share = tl.load(x + row * length + at, mask=at < length, other=0.0, eviction_policy="evict_first")
    tl.store(of_x + row, tl.sum(share, 0))


@triton.jit
def finish(of_x, w, bias, gamma, beta, mean, variance, y, n, c_in, c_out, taps, count, scale, eps,
           samples: tl.constexpr, deep: tl.constexpr, wide: tl.constexpr):  # fmt: skip
    co = tl.program_id(0)
    ci = tl.arange(0, deep)
    tap = tl.arange(0, wide)
    inside = (ci < c_in)[:, None] & (tap < taps)[None, :]
    of_w = tl.sum(tl.load(w + (ci * c_out + co)[:, None] * taps + tap[None, :], mask=inside, other=0.0), 1)
    slope = tl.load(gamma + co) / tl.sqrt(tl.load(variance + co) + eps)
    for first in range(0, n, samples):
        sample = first + tl.arange(0, samples)
        known = (sample < n)[:, None] & (ci < c_in)[None, :]
        value = tl.load(of_x + sample[:, None] * c_in + ci[None, :], mask=known, other=0.0)
        value = tl.sum(value * of_w[None, :], 1) / count + tl.load(bias + co)
        value = (value * scale - tl.load(mean + co)) * slope + tl.load(beta + co)
        tl.store(y + sample * c_out + co, value, mask=sample < n)


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
        if length > 65536:
            return self.global_avg_pool(norm(self.conv_transpose(x) * self.scale_factor))
        of_x = x.new_empty(n * c_in)
        sums[(n * c_in,)](x, of_x, length, block=triton.next_power_of_2(length), num_warps=WARPS)
        y = x.new_empty(n, c_out, 1, 1, 1)
        finish[(c_out,)](
            of_x, weight, self.conv_transpose.bias, norm.weight, norm.bias, norm.running_mean, norm.running_var, y,
            n, c_in, c_out, taps, float(count), float(self.scale_factor), norm.eps,
            samples=16, deep=triton.next_power_of_2(c_in), wide=triton.next_power_of_2(taps), num_warps=END_WARPS,
        )  # fmt: skip
        return y
