"""Triton: GEMM (tf32x3), a row's seven taps x filters as columns, shifted sums through L2.

Sixteen filters fill no tensor core tile; times seven taps they do. A program multiplies whole input rows (BLOCK pixels
of 32 channels) with 112 columns for each depth and height tap that meets the input, leaves the product in a scratch of
its own that stays in L2, and adds the seven columns of each output up at their shifts. Stride 1, no padding.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"BLOCK": [64, 128], "WARPS": [4, 8], "STAGES": [2, 3, 4], "PROGRAMS": [132, 264]}
BLOCK = 128
WARPS = 8
STAGES = 3
PROGRAMS = 132
PRECISION = "tf32x3"


@triton.jit
def pack(x, packed, plane, channels: tl.constexpr, block: tl.constexpr):
    """Channels side by side."""
    n = tl.program_id(1)
    pixel = tl.program_id(0) * block + tl.arange(0, block)
    channel = tl.arange(0, channels)
    there = pixel < plane
    value = tl.load(x + (n * channels + channel)[:, None] * plane + pixel[None, :], mask=there[None, :], other=0.0)
    at = (n * plane + pixel)[:, None] * channels + channel[None, :]
    tl.store(packed + at, tl.trans(value), mask=there[:, None])


@triton.jit
def product(packed, w, b, y, scratch, tiles, bands, depth, height, width, bias: tl.constexpr, channels: tl.constexpr,
            filters: tl.constexpr, kd: tl.constexpr, kh: tl.constexpr, kw: tl.constexpr, wide: tl.constexpr,
            block: tl.constexpr, columns: tl.constexpr, reach: tl.constexpr, stages: tl.constexpr,
            precision: tl.constexpr):  # fmt: skip
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
        # Taps that meet the input anywhere in this tile.
        low_d = tl.maximum(d - depth + 1, 0)
        low_h = tl.maximum(first - height + 1, 0)
        many_d = tl.minimum(d, kd - 1) - low_d + 1
        many_h = tl.minimum(first + rows - 1, kh - 1) - low_h + 1
        value = tl.zeros((block, columns), tl.float32)
        for step in tl.range(0, many_d * many_h, num_stages=stages):
            tap_d = low_d + step // many_h
            tap_h = low_h + step % many_h
            met = (row >= tap_h) & (row - tap_h < height) & (pixel % wide < width)
            start = packed + ((n * depth + d - tap_d) * height - tap_h) * width * channels
            patch = tl.load(start + x_at, mask=met[:, None], other=0.0)
            taps = w + (tap_d * kh + tap_h) * (kw * filters * channels)
            weight = tl.load(taps + w_at, mask=(column < kw * filters)[:, None], other=0.0)
            value = tl.dot(patch, weight.T, value, input_precision=precision)
        tl.store(scratch + column[None, :] * block + pixel[:, None], value)
        tl.debug_barrier()
        col = tl.arange(0, reach)
        for i in range(rows):
            result = tl.zeros((filters, reach), tl.float32)
            if bias:
                result += tl.load(b + filter)[:, None]
            for tap in tl.static_range(kw):
                inside = (col >= tap) & (col - tap < width)
                at = (tap * filters + filter)[:, None] * block + (i * wide + col - tap)[None, :]
                result += tl.load(scratch + at, mask=inside[None, :], other=0.0, cache_modifier=".cg")
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
        if not self.plain or x.dim() != 5 or x.dtype != torch.float32 or x.numel() >= 2**30 or x.shape[-1] > BLOCK:
            return conv(x)
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        kd, kh, kw = conv.kernel_size
        packed = torch.empty_like(x)
        plane = depth * height * width
        pack[(triton.cdiv(plane, 128), n)](x, packed, plane, channels=32, block=128, num_warps=4)
        weight = conv.weight.permute(2, 3, 4, 1, 0).contiguous()
        y = x.new_empty(n, 16, depth + kd - 1, height + kh - 1, width + kw - 1)
        wide = max(triton.next_power_of_2(width), 16)
        bands = triton.cdiv(height + kh - 1, BLOCK // wide)
        tiles = n * (depth + kd - 1) * bands
        programs = min(PROGRAMS, tiles)
        scratch = x.new_empty(programs * BLOCK * 128)
        with_bias = conv.bias is not None
        product[(programs,)](
            packed, weight, conv.bias if with_bias else weight, y, scratch, tiles, bands, depth, height, width,
            bias=with_bias, channels=32, filters=16, kd=kd, kh=kh, kw=kw, wide=wide, block=BLOCK, columns=128,
            reach=triton.next_power_of_2(width + kw - 1), stages=STAGES, precision=PRECISION, num_warps=WARPS,
        )  # fmt: skip
        return y
