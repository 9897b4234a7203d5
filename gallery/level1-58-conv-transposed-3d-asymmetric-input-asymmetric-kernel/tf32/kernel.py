# Exported by Kernwright 0.1.0: node 3 of run 20261126-level1-58-conv-transposed-3d-asy-7ffe, by Claude (Anthropic).
# problem: level1_58_conv_transposed_3D__asymmetric_input__asymmetric_kernel (f50fb46590ba5ddf4a149fe72be8c397)
# verdict: verified
# speedup: 23.490x [19.952, 27.656], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: candidate counts 115.2 µs more than the 345.9 µs that its calls show: in long messages of up to 10 calls each takes 318.9 ± 170.1 µs (workload 'default')
# evidence: kernel.bundle.json, bundle 3383fa87af07fe970cf4fd76a14536f0a9fee7acd69bac56f6815422bc74f6c3
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Transposed 3-D convolution: pixels times the taps of a row as columns, in one float16 product, then shifted sums.

x and each filter's weights are scaled by powers of two and rounded to TF32's ten bits of mantissa. A tile of output
rows meets five rows of taps, three depths in a step, and leaves a column for each tap of a row and filter;
columns are added after a shift each, through a scratch that stays in the L2 cache.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"BLOCK": [64, 128], "STAGES": [2, 3], "PROGRAMS": [264, 396, 528]}
BLOCK = 128
STAGES = 2
PROGRAMS = 264
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
def pack(x, parts, packed, plane, shares: tl.constexpr, channels: tl.constexpr, block: tl.constexpr):
    """Channels side by side."""
    factor = _power(14 - _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0)))
    n = tl.program_id(1)
    pixel = tl.program_id(0) * block + tl.arange(0, block)
    channel = tl.arange(0, channels)
    there = pixel < plane
    value = tl.load(x + (n * channels + channel)[:, None] * plane + pixel[None, :], mask=there[None, :], other=0.0)
    at = (n * plane + pixel)[:, None] * channels + channel[None, :]
    tl.store(packed + at, (tl.trans(value) * factor).to(tl.float16), mask=there[:, None])


@triton.jit
def pack_weight(w, parts, packed, factors, shares: tl.constexpr, channels: tl.constexpr, filters: tl.constexpr,
                taps: tl.constexpr, kw: tl.constexpr, columns: tl.constexpr, block: tl.constexpr):  # fmt: skip
    """A filter's weights as (taps / kw, kw x filters, channels); what undoes both scales."""
    filter = tl.program_id(0)
    channel = tl.arange(0, channels)
    tap = tl.arange(0, block)
    there = (tap < taps)[None, :]
    value = tl.load(w + (channel[:, None] * filters + filter) * taps + tap[None, :], mask=there, other=0.0)
    exponent = _exponent(tl.max(tl.max(tl.abs(value), 0), 0))
    from_x = _exponent(tl.max(tl.load(parts + tl.arange(0, shares)), 0))
    value *= _power(14 - exponent)
    to = packed + (tap // kw * columns + tap % kw * filters + filter)[None, :] * channels + channel[:, None]
    tl.store(to, value.to(tl.float16), mask=there)
    tl.store(factors + filter, _power(exponent - 14))
    tl.store(factors + filters + filter, _power(from_x - 14))


@triton.jit
def product(packed, w, factors, b, y, scratch, tiles, bands, depth, height, width, bias: tl.constexpr,
            channels: tl.constexpr, filters: tl.constexpr, kd: tl.constexpr, kh: tl.constexpr, kw: tl.constexpr,
            wide: tl.constexpr, block: tl.constexpr, columns: tl.constexpr, reach: tl.constexpr,
            stages: tl.constexpr):  # fmt: skip
    rows: tl.constexpr = block // wide
    pixel = tl.arange(0, block)
    column = tl.arange(0, columns)
    channel = tl.arange(0, channels)
    filter = tl.arange(0, filters)
    scratch += tl.program_id(0) * (block * columns)
    out_depth = depth + kd - 1
    out_height = height + kh - 1
    out_width = width + kw - 1
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        first = tile % bands * rows
        d = tile // bands % out_depth
        n = tile // bands // out_depth
        row = first + pixel // wide
        x_at = (row * width + pixel % wide)[:, None] * channels + channel[None, :]
        w_at = column[:, None] * channels + channel[None, :]
        # Rows of taps that meet the input anywhere in this tile; depths that do not are zeros.
        low_h = tl.maximum(first - height + 1, 0)
        many_h = tl.minimum(first + rows - 1, kh - 1) - low_h + 1
        value = tl.zeros((block, columns), tl.float32)
        for step in tl.range(0, many_h, num_stages=stages):
            tap_h = low_h + step
            met = (row >= tap_h) & (row - tap_h < height) & (pixel % wide < width)
            for tap_d in tl.static_range(kd):
                start = packed + ((n * depth + d - tap_d) * height - tap_h) * width * channels
                patch = tl.load(start + x_at, mask=(met & (d >= tap_d) & (d - tap_d < depth))[:, None], other=0.0)
                taps = w + (tap_d * kh + tap_h) * (columns * channels)
                value = tl.dot(patch, tl.load(taps + w_at).T, value)
        tl.store(scratch + column[None, :] * block + pixel[:, None], value)
        tl.debug_barrier()
        col = tl.arange(0, reach)
        back = tl.load(factors + filter)[:, None]
        back_x = tl.load(factors + filters + filter)[:, None]
        for i in range(rows):
            result = tl.zeros((filters, reach), tl.float32)
            for tap in tl.static_range(kw):
                inside = (col >= tap) & (col - tap < width)
                at = (tap * filters + filter)[:, None] * block + (i * wide + col - tap)[None, :]
                result += tl.load(scratch + at, mask=inside[None, :], other=0.0, cache_modifier=".cg")
            result = result * back * back_x
            if bias:
                result += tl.load(b + filter)[:, None]
            to = ((n * filters + filter) * out_depth + d) * out_height + first + i
            kept = (col < out_width) & (first + i < out_height)
            tl.store(y + to[:, None] * out_width + col[None, :], result, mask=kept[None, :])
        tl.debug_barrier()


class ModelNew(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple = (1, 1, 1),
        padding: tuple = (0, 0, 0),
        output_padding: tuple = (0, 0, 0),
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose3d = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
        )
        conv = self.conv_transpose3d
        places = (conv.stride, conv.padding, conv.output_padding) == ((1, 1, 1), (0, 0, 0), (0, 0, 0))
        self.plain = places and (in_channels, out_channels, groups) == (32, 16, 1) and conv.kernel_size[2] <= 8

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv = self.conv_transpose3d
        if not self.plain or x.dim() != 5 or x.dtype != torch.float32 or x.numel() >= 2**29 or x.shape[-1] > BLOCK:
            return conv(x)
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        kd, kh, kw = conv.kernel_size
        plane = depth * height * width
        packed = torch.empty(n * plane * 32, dtype=torch.float16, device=x.device)
        weight = torch.zeros(kd * kh * 128 * 32, dtype=torch.float16, device=x.device)
        floats = x.new_empty(SHARES + 32)
        parts, factors = floats[:SHARES], floats[SHARES:]
        share = triton.cdiv(triton.cdiv(x.numel(), SHARES), 4096) * 4096
        largest_of[(SHARES,)](x, parts, x.numel(), share, block=4096, num_warps=8)
        pack[(triton.cdiv(plane, 128), n)](x, parts, packed, plane, shares=SHARES, channels=32, block=128, num_warps=4)
        pack_weight[(16,)](
            conv.weight, parts, weight, factors, shares=SHARES, channels=32, filters=16, taps=kd * kh * kw,
            kw=kw, columns=128, block=triton.next_power_of_2(kd * kh * kw), num_warps=4,
        )  # fmt: skip
        y = x.new_empty(n, 16, depth + kd - 1, height + kh - 1, width + kw - 1)
        wide = max(triton.next_power_of_2(width), 16)
        bands = triton.cdiv(height + kh - 1, BLOCK // wide)
        tiles = n * (depth + kd - 1) * bands
        programs = min(PROGRAMS, tiles)
        scratch = x.new_empty(programs * BLOCK * 128)
        with_bias = conv.bias is not None
        product[(programs,)](
            packed, weight, factors, conv.bias if with_bias else factors, y, scratch, tiles, bands,
            depth, height, width,
            bias=with_bias, channels=32, filters=16, kd=kd, kh=kh, kw=kw, wide=wide, block=BLOCK, columns=128,
            reach=triton.next_power_of_2(width + kw - 1), stages=STAGES, num_warps=BLOCK // 16,
        )  # fmt: skip
        return y
