"""Triton: one aligned load a row; neighbours come by gathers among the program's threads, not by more loads from L1.

01 loads each row three or four times, 4 bytes a thread, as shifted addresses are not aligned. Here a row is 16-byte
vectors, once.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

KNOBS = {"ROWS": [8, 16, 32, 64], "BLOCK": [512], "WARPS": [2, 4, 8]}
ROWS = 32
BLOCK = 512
WARPS = 4


@triton.jit
def depthwise(x, w, b, y, channels, height, width, strips, bias: tl.constexpr, rows: tl.constexpr, block: tl.constexpr):
    plane = (tl.program_id(0) // strips).to(tl.int64)
    first = tl.program_id(0) % strips * rows
    channel = tl.program_id(0) // strips % channels
    w += channel * 9
    w00 = tl.load(w)
    w01 = tl.load(w + 1)
    w02 = tl.load(w + 2)
    w10 = tl.load(w + 3)
    w11 = tl.load(w + 4)
    w12 = tl.load(w + 5)
    w20 = tl.load(w + 6)
    w21 = tl.load(w + 7)
    w22 = tl.load(w + 8)
    shift = tl.load(b + channel) if bias else 0.0
    x += plane * height * width
    y += plane * (height - 2) * (width - 2)
    col = tl.program_id(1) * block + tl.arange(0, block)
    inside = col < width - 2
    here = tl.full((block,), 0.0, tl.float32)  # what row r - 2 has so far, then what row r - 1 has
    next = tl.full((block,), 0.0, tl.float32)
    for i in tl.static_range(rows + 2):
        row = first + i
        mask = inside & (row < height)
        e = tl.load(x + row * width + col, mask=(col < width) & (row < height), other=0.0)
        m = tl.gather(e, tl.minimum(col + 1, block - 1), 0)
        r = tl.gather(e, tl.minimum(col + 2, block - 1), 0)
        value = here + (e * w20 + m * w21 + r * w22)
        if i >= 2:
            tl.store(y + (row - 2) * (width - 2) + col, value, mask=mask)
        here = next + (e * w10 + m * w11 + r * w12)
        next = shift + e * w00 + m * w01 + r * w02


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels, in_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias
        )
        self.plain = (kernel_size, stride, padding) == (3, 1, 0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.plain or x.dim() != 4 or x.dtype != torch.float32 or min(x.shape[2:]) < 3 or x.shape[-1] > BLOCK:
            return self.conv2d(x)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 2, width - 2)
        strips = triton.cdiv(height - 2, ROWS)
        weight, bias = self.conv2d.weight, self.conv2d.bias
        grid = (n * c * strips, triton.cdiv(width - 2, BLOCK))
        with_bias = bias is not None
        shift = bias if with_bias else weight
        depthwise[grid](
            x, weight, shift, y, c, height, width, strips, bias=with_bias, rows=ROWS, block=BLOCK, num_warps=WARPS
        )
        return y
