# Exported by Kernwright 0.1.0: node 3 of run 20261126-level2-92-conv2d-groupnorm-tanh-cee7, by Claude (Anthropic).
# problem: level2_92_Conv2d_GroupNorm_Tanh_HardSwish_ResidualAdd_LogSumExp (dc70fa4f50c8b333b36bc8edccb1263b)
# verdict: verified
# speedup: 2.700x [2.689, 2.711], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle e9b9d151ca070d7cfc8638d5fbd0c0ffdfc42e37de8e929bfaa3f1feb6bbf1d9
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""The convolution twice in one float16 product: statistics, then all the rest, by asynchronous copies of 16 bytes.

x and each filter's weights are scaled by powers of two and rounded to TF32's ten bits of mantissa; a pixel is 16 bytes.
A row of three taps and the pixel after it, which has weights of zero, is one step of K = 32. Convolving again costs
less than writing and reading 520 MB.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"BLOCK": [64, 128], "EACH": [8, 16], "STAGES": [2, 3, 4]}
BLOCK = 64
EACH = 16
STAGES = 3
WARPS = 4
SHARES = 1024
"""Of x, whose largest numbers are found side by side."""


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def largest_of(x, parts, count, share, block: tl.constexpr):
    """The largest magnitude of a share of x."""
    lane = tl.arange(0, block)
    most = tl.zeros((block,), tl.float32)
    begin = tl.program_id(0) * share
    for start in range(begin, tl.minimum(begin + share, count), block):
        at = start + lane
        most = tl.maximum(most, tl.abs(tl.load(x + at, mask=at < count, other=0.0)))
    tl.store(parts + tl.program_id(0), tl.max(most, 0))


@triton.jit
def pack(x, parts, packed, area, shares: tl.constexpr, channels: tl.constexpr, block: tl.constexpr):
    """(n, channels, area) as (n, area + 1, channels), the last pixel of each sample zero."""
    exponent = _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0))
    n = tl.program_id(1)
    pixel = tl.program_id(0) * block + tl.arange(0, block)
    channel = tl.arange(0, channels)
    there = pixel < area
    value = tl.load(x + (n * channels + channel)[:, None] * area + pixel[None, :], mask=there[None, :], other=0.0)
    to = packed + (n.to(tl.int64) * (area + 1) + pixel)[:, None] * channels + channel[None, :]
    tl.store(to, (tl.trans(value) * _power(14 - exponent)).to(tl.float16), mask=(pixel <= area)[:, None])


@triton.jit
def pack_weight(w, parts, packed, factors, shares: tl.constexpr, filters: tl.constexpr):
    """A filter's 72 numbers as (tap, channel); what undoes both scales."""
    filter = tl.arange(0, filters)
    k = tl.arange(0, 128)
    from_x = _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0))
    at = w + filter[None, :] * 72 + (k % 8 * 9 + k // 8)[:, None]
    value = tl.load(at, mask=(k < 72)[:, None], other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    value *= _power(14 - exponent)[None, :]
    tl.store(packed + k[:, None] * filters + filter[None, :], value.to(tl.float16), mask=(k < 72)[:, None])
    tl.store(factors + filter, _power(exponent - 14))
    tl.store(factors + filters + filter, tl.zeros((filters,), tl.float32) + _power(from_x - 14))


@triton.jit
def weights(packed, row: tl.constexpr, filters: tl.constexpr):
    """Three taps of a row and one of zeros."""
    k = tl.arange(0, 32)
    at = packed + (row * 24 + k)[:, None] * filters + tl.arange(0, filters)[None, :]
    return tl.load(at, mask=(k < 24)[:, None], other=0.0)


@triton.jit
def convolved(x, w0, w1, w2, base, width):
    """Results at the pixels `base`: each with the three pixels after it, 32 halves, in three rows."""
    at = x + base[:, None] * 8 + tl.arange(0, 32)[None, :]
    value = tl.dot(tl.load(at), w0)
    value = tl.dot(tl.load(at + width * 8), w1, value)
    return tl.dot(tl.load(at + width * 16), w2, value)


@triton.jit
def spread(of_groups, filters: tl.constexpr, groups: tl.constexpr):
    """A number for each group as one for each channel."""
    each: tl.constexpr = filters // groups
    return tl.reshape(tl.broadcast_to(of_groups[:, None], (groups, each)), (filters,))


@triton.jit
def combined(partial, n, tiles, pixels, eps, groups: tl.constexpr, per: tl.constexpr, block: tl.constexpr,
             many: tl.constexpr):  # fmt: skip
    """Mean and reciprocal deviation of each group over all tiles."""
    tile = tl.arange(0, many)
    group = tl.arange(0, groups)
    at = partial + (n * tiles + tile)[:, None] * (2 * groups) + group[None, :]
    known = (tile < tiles)[:, None] & (group < groups)[None, :]
    means = tl.load(at, mask=known, other=0.0)
    squares = tl.load(at + groups, mask=known, other=0.0)
    count = tl.where(tile < tiles, tl.minimum(block, pixels - tile * block) * per, 0).to(tl.float32)
    whole = pixels.to(tl.float32) * per
    mean = tl.sum(means * count[:, None], 0) / whole
    off = means - mean[None, :]
    variance = (tl.sum(squares, 0) + tl.sum(off * off * count[:, None], 0)) / whole
    return mean, 1.0 / tl.sqrt(variance + eps)


@triton.jit
def activated(value, mean, factor, shift):
    """value + hardswish(tanh(normalised value)); a hyperbolic tangent lies within the parabola of the hardswish."""
    normal = (value - mean) * factor + shift
    tangent = 1.0 - 2.0 / (1.0 + tl.exp(2.0 * normal))
    return value + tangent * (tangent + 3.0) * (1.0 / 6.0)


@triton.jit
def log_sum_exp(value):
    most = tl.max(value, 1)
    return most + tl.log(tl.sum(tl.exp(value - most[:, None]), 1))


@triton.jit
def statistics(x, w, factors, b, partial, height, width, tiles, each, filters: tl.constexpr, groups: tl.constexpr,
               block: tl.constexpr, stages: tl.constexpr):  # fmt: skip
    """Mean and squared deviations of each group in each tile of `block` pixels."""
    n = tl.program_id(1)
    pixels = (height - 2) * (width - 2)
    filter = tl.arange(0, filters)
    per: tl.constexpr = filters // groups
    w0 = weights(w, 0, filters)
    w1 = weights(w, 1, filters)
    w2 = weights(w, 2, filters)
    back = tl.load(factors + filter)[None, :]
    back_x = tl.load(factors + filters + filter)[None, :]
    add = tl.load(b + filter)[None, :]
    last = tl.minimum(tiles, (tl.program_id(0) + 1) * each)
    for tile in tl.range(tl.program_id(0) * each, last, num_stages=stages):
        pixel = tile * block + tl.arange(0, block)
        there = pixel < pixels
        place = tl.minimum(pixel, pixels - 1)
        base = n * (height * width + 1) + place // (width - 2) * width + place % (width - 2)
        value = convolved(x, w0, w1, w2, base, width)
        value = value * back * back_x + add
        count = (tl.minimum(block, pixels - tile * block) * per).to(tl.float32)
        total = tl.sum(tl.where(there[:, None], value, 0.0), 0)
        mean = tl.sum(tl.reshape(total, (groups, per)), 1) / count
        off = tl.where(there[:, None], value - spread(mean, filters, groups)[None, :], 0.0)
        squares = tl.sum(tl.reshape(tl.sum(off * off, 0), (groups, per)), 1)
        to = partial + (n * tiles + tile) * (2 * groups) + tl.arange(0, groups)
        tl.store(to, mean)
        tl.store(to + groups, squares)


@triton.jit
def finish(x, w, factors, b, partial, gamma, beta, y, height, width, tiles, each, eps, filters: tl.constexpr,
           groups: tl.constexpr, block: tl.constexpr, many: tl.constexpr, stages: tl.constexpr):  # fmt: skip
    n = tl.program_id(1)
    pixels = (height - 2) * (width - 2)
    filter = tl.arange(0, filters)
    mean, scale = combined(partial, n, tiles, pixels, eps, groups, filters // groups, block, many)
    mean = spread(mean, filters, groups)
    factor = spread(scale, filters, groups) * tl.load(gamma + filter)
    shift = tl.load(beta + filter)
    w0 = weights(w, 0, filters)
    w1 = weights(w, 1, filters)
    w2 = weights(w, 2, filters)
    back = tl.load(factors + filter)[None, :]
    back_x = tl.load(factors + filters + filter)[None, :]
    add = tl.load(b + filter)[None, :]
    last = tl.minimum(tiles, (tl.program_id(0) + 1) * each)
    for tile in tl.range(tl.program_id(0) * each, last, num_stages=stages):
        pixel = tile * block + tl.arange(0, block)
        there = pixel < pixels
        place = tl.minimum(pixel, pixels - 1)
        base = n * (height * width + 1) + place // (width - 2) * width + place % (width - 2)
        value = convolved(x, w0, w1, w2, base, width)
        value = value * back * back_x + add
        value = activated(value, mean[None, :], factor[None, :], shift[None, :])
        tl.store(y + n * pixels + pixel, log_sum_exp(value), mask=there)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, eps=1e-5):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(groups, out_channels, eps=eps)
        self.tanh = nn.Tanh()
        self.hard_swish = nn.Hardswish()
        self.plain = (in_channels, out_channels, kernel_size, groups) == (8, 64, 3, 16)

    def by_operators(self, x: torch.Tensor) -> torch.Tensor:
        v = self.conv(x)
        return torch.logsumexp(v + self.hard_swish(self.tanh(self.group_norm(v))), dim=1, keepdim=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.plain or x.dim() != 4 or x.dtype != torch.float32 or x.numel() >= 2**30 or min(x.shape[2:]) < 3:
            return self.by_operators(x)
        x = x.contiguous()
        n, _, height, width = x.shape
        pixels = (height - 2) * (width - 2)
        tiles = triton.cdiv(pixels, BLOCK)
        if tiles > 512:
            return self.by_operators(x)
        weight, bias, norm = self.conv.weight, self.conv.bias, self.group_norm
        floats = x.new_empty(SHARES + 128 + n * tiles * 32)
        parts, factors, partial = floats[:SHARES], floats[SHARES : SHARES + 128], floats[SHARES + 128 :]
        packed = torch.empty(n * (height * width + 1) * 8, dtype=torch.float16, device=x.device)
        packed_weight = torch.empty(72 * 64, dtype=torch.float16, device=x.device)
        share = triton.cdiv(triton.cdiv(x.numel(), SHARES), 4096) * 4096
        largest_of[(SHARES,)](x, parts, x.numel(), share, block=4096, num_warps=8)
        pack[(triton.cdiv(height * width + 1, 256), n)](
            x, parts, packed, height * width, shares=SHARES, channels=8, block=256, num_warps=4
        )
        pack_weight[(1,)](weight, parts, packed_weight, factors, shares=SHARES, filters=64, num_warps=8)
        y = x.new_empty(n, 1, height - 2, width - 2)
        common = {"filters": 64, "groups": 16, "block": BLOCK, "stages": STAGES, "num_warps": WARPS}
        many = triton.next_power_of_2(tiles)
        grid = (triton.cdiv(tiles, EACH), n)
        of_conv = (packed, packed_weight, factors, bias)
        statistics[grid](*of_conv, partial, height, width, tiles, EACH, **common)
        finish[grid](
            *of_conv, partial, norm.weight, norm.bias, y, height, width, tiles, EACH, norm.eps, many=many, **common
        )
        return y
