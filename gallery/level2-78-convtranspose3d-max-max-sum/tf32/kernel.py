# Exported by Kernwright 0.1.0: node 3 of run 20261126-level2-78-convtranspose3d-max-ma-f272, by Claude (Anthropic).
# problem: level2_78_ConvTranspose3d_Max_Max_Sum (bd6419453c882118daa2985f1183f417)
# verdict: verified
# speedup: 55.901x [55.790, 56.013], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle 1c204501a449e0328871246e33b409365ea3d4d1a80c342e353cacb11548f218
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Transposed convolution and both maxima by parity of the output, whose loads never pause between places of a window.

A window's 27 places are 4 to 9 steps each, too few to fill a pipeline again every time, so that both loops are one.
Zeros for the odd output's third tap leave one set of sums. A product's numbers are scaled by powers of two and rounded
to TF32's ten bits of mantissa; no output is written, only the largest of each parity, and a small kernel adds up.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"BLOCK": [64, 128], "WARPS": [4, 8], "STAGES": [2, 3, 4]}
BLOCK = 128
WARPS = 8
STAGES = 3
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
    for start in range(0, share, block):
        at = begin + start + lane
        most = tl.maximum(most, tl.abs(tl.load(x + at, mask=at < count, other=0.0)))
    tl.store(parts + tl.program_id(0), tl.max(most, 0))


@triton.jit
def pack(x, parts, packed, depth, height, width, shares: tl.constexpr, channels: tl.constexpr,
         block: tl.constexpr):  # fmt: skip
    """Channels side by side, a frame of zeros before the first of each axis."""
    factor = _power(14 - _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0)))
    n = tl.program_id(1) // (depth + 1)
    d = tl.program_id(1) % (depth + 1)
    h = tl.program_id(0)
    w = tl.arange(0, block)
    channel = tl.arange(0, channels)
    there = (d > 0) & (h > 0) & (w > 0) & (w <= width)
    plane = depth * height * width
    at = n * (channels * plane) + ((d - 1) * height + h - 1) * width + w - 1
    value = tl.load(x + at[None, :] + channel[:, None] * plane, mask=there[None, :], other=0.0)
    value = tl.trans(value) * factor
    row = ((n * (depth + 1) + d) * (height + 1) + h) * (width + 1) + w
    to = packed + row[:, None] * channels + channel[None, :]
    tl.store(to, value.to(tl.float16), mask=(w <= width)[:, None])


@triton.jit
def scales(w, parts, factors, shares: tl.constexpr, filters: tl.constexpr, taps: tl.constexpr, channels: tl.constexpr,
           block: tl.constexpr):  # fmt: skip
    """What scales a filter's weights, and what undoes the scales of its products in two steps."""
    filter = tl.program_id(0)
    at = tl.arange(0, block)
    most = tl.zeros((block,), tl.float32)
    for channel in range(channels):
        value = tl.load(w + (channel * filters + filter) * taps + at, mask=at < taps, other=0.0)
        most = tl.maximum(most, tl.abs(value))
    exponent = _exponent(tl.max(most, 0))
    from_x = _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0))
    tl.store(factors + filter, _power(14 - exponent))
    tl.store(factors + filters + filter, _power(exponent - 14))
    tl.store(factors + 2 * filters + filter, _power(from_x - 14))


@triton.jit
def pack_weight(w, factors, packed, filters: tl.constexpr, taps: tl.constexpr, channels: tl.constexpr):
    """Of each five taps (2 | 3), (0 | 1), (4 | zeros), `channels` by 2 x filters each."""
    line = tl.program_id(0) // 5
    tap = tl.program_id(0) % 5
    channel = tl.arange(0, channels)
    filter = tl.arange(0, filters)
    value = tl.load(w + (channel[:, None] * filters + filter[None, :]) * taps + line * 5 + tap)
    value *= tl.load(factors + filter)[None, :]
    block: tl.constexpr = channels * filters
    start = tl.where(tap == 4, 4 * block, (1 - tap // 2) * (2 * block) + tap % 2 * filters)
    to = packed + line * (6 * block) + start + channel[:, None] * (2 * filters) + filter[None, :]
    tl.store(to, value.to(tl.float16))
    if tap == 4:
        tl.store(to + filters, tl.zeros((channels, filters), tl.float16))


@triton.jit
def fused(packed, w, parts, windows, depth, height, width, pd, ph, pw,
          channels: tl.constexpr, filters: tl.constexpr, block: tl.constexpr, stages: tl.constexpr):  # fmt: skip
    window = tl.program_id(0) * block + tl.arange(0, block)
    there = window < windows
    place = tl.where(there, window, 0)
    n = place // (pd * ph * pw)
    line = width + 1
    slice = (height + 1) * line
    first = (n * (depth + 1) + place // (ph * pw) % pd * 3 + 1) * slice
    first += (place // pw % ph * 3 + 1) * line + place % pw * 3 + 1
    channel = tl.arange(0, channels)
    filter = tl.arange(0, filters)
    both = tl.arange(0, 2 * channels)
    wide = tl.arange(0, 2 * filters)
    # Two places of x are 2 * channels numbers side by side.
    two_at = first[:, None] * channels + both[None, :]
    one_at = first[:, None] * channels + channel[None, :]
    w_two = both[:, None] * (2 * filters) + wide[None, :]
    w_one = (2 * channels + channel)[:, None] * (2 * filters) + wide[None, :]
    best = tl.full((block, filters), float("-inf"), tl.float32)
    odd_d = tl.program_id(1) // 2
    odd_h = tl.program_id(1) % 2
    many_h = 3 - odd_h
    for place3 in tl.range(27, num_stages=stages, flatten=True):
        # Outputs 2 e and 2 e + 1 of an axis get taps 0, 2, 4 of x at e + 1, e, e - 1, and taps 1, 3 of x at e + 1, e.
        shift = place3 // 9 * slice + place3 // 3 % 3 * line + place3 % 3
        pair = tl.zeros((block, 2 * filters), tl.float32)
        for step in range((3 - odd_d) * many_h):
            step_d = step // many_h
            step_h = step % many_h
            at = packed + (shift + (1 - step_d) * slice + (1 - step_h) * line) * channels
            taps = w + ((odd_d + 2 * step_d) * 5 + odd_h + 2 * step_h) * (6 * channels * filters)
            two = tl.load(at + two_at)
            one = tl.load(at - channels + one_at)
            pair = tl.dot(two, tl.load(taps + w_two), pair)
            pair = tl.dot(one, tl.load(taps + w_one), pair)
        even, odd = tl.split(tl.permute(tl.reshape(pair, (block, 2, filters)), (0, 2, 1)))
        larger = tl.maximum(even, odd, propagate_nan=tl.PropagateNan.ALL)
        best = tl.maximum(best, larger, propagate_nan=tl.PropagateNan.ALL)
    to = parts + (tl.program_id(1) * windows + window).to(tl.int64)[:, None] * filters + filter[None, :]
    tl.store(to, best, mask=there[:, None])


@triton.jit
def finish(parts, factors, b, y, windows, count: tl.constexpr, filters: tl.constexpr, block: tl.constexpr):
    """The largest of all parities, scaled back, and the sum over filters."""
    window = tl.program_id(0) * block + tl.arange(0, block)
    there = window < windows
    filter = tl.arange(0, filters)
    at = parts + window.to(tl.int64)[:, None] * filters + filter[None, :]
    best = tl.load(at, mask=there[:, None], other=0.0)
    for i in tl.static_range(1, count):
        more = tl.load(at + i * windows.to(tl.int64) * filters, mask=there[:, None], other=0.0)
        best = tl.maximum(best, more, propagate_nan=tl.PropagateNan.ALL)
    best = best * tl.load(factors + filters + filter)[None, :] * tl.load(factors + 2 * filters + filter)[None, :]
    result = tl.sum(best + tl.load(b + filter)[None, :], 1)
    tl.store(y + window, result, mask=there)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)
        self.max_pool1 = nn.MaxPool3d(kernel_size=2)
        self.max_pool2 = nn.MaxPool3d(kernel_size=3)
        self.plain = (in_channels, out_channels, kernel_size, stride, padding) == (32, 64, 5, 2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.plain or x.dim() != 5 or x.dtype != torch.float32 or x.numel() >= 2**29 or min(x.shape[2:]) < 4:
            x = self.max_pool2(self.max_pool1(self.conv_transpose(x)))
            return torch.sum(x, dim=1, keepdim=True)
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        pd, ph, pw = (depth - 1) // 3, (height - 1) // 3, (width - 1) // 3
        size = n * (depth + 1) * (height + 1) * (width + 1) * 32
        packed = torch.empty(size, dtype=torch.float16, device=x.device)
        packed_weight = torch.empty(150 * 32 * 64, dtype=torch.float16, device=x.device)
        floats = x.new_empty(SHARES + 192)
        parts, factors = floats[:SHARES], floats[SHARES:]
        weight = self.conv_transpose.weight
        share = triton.cdiv(triton.cdiv(x.numel(), SHARES), 4096) * 4096
        largest_of[(SHARES,)](x, parts, x.numel(), share, block=4096, num_warps=8)
        pack[(height + 1, n * (depth + 1))](
            x, parts, packed, depth, height, width, shares=SHARES, channels=32,
            block=triton.next_power_of_2(width + 1), num_warps=4,
        )  # fmt: skip
        scales[(64,)](weight, parts, factors, shares=SHARES, filters=64, taps=125, channels=32, block=128, num_warps=4)
        pack_weight[(125,)](weight, factors, packed_weight, filters=64, taps=125, channels=32, num_warps=4)
        y = x.new_empty(n, 1, pd, ph, pw)
        windows = n * pd * ph * pw
        best = x.new_empty(4 * windows * 64)
        fused[(triton.cdiv(windows, BLOCK), 4)](
            packed, packed_weight, best, windows, depth, height, width, pd, ph, pw,
            channels=32, filters=64, block=BLOCK, stages=STAGES, num_warps=WARPS,
        )  # fmt: skip
        finish[(triton.cdiv(windows, 16),)](
            best, factors, self.conv_transpose.bias, y, windows, count=4, filters=64, block=16, num_warps=4
        )
        return y
