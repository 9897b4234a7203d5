"""Triton: a true loop down a long strip with the next row's loads before this row's work and store.

01 is unrolled, and a store stands before the next loads, which the compiler may not move across it. Long strips read
fewer rows twice.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

KNOBS = {"ROWS": [8, 16, 32, 64], "BLOCK": [256, 512], "WARPS": [2, 4, 8]}
ROWS = 64
BLOCK = 512
WARPS = 4


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def across(x, row, col, height, width):
    """The largest of columns col - 1 to col + 2 in this row; minus infinity where there are none."""
    there = (row >= 0) & (row < height)
    at = x + row * width + col
    lowest = float("-inf")
    a = tl.load(at - 1, mask=there & (col > 0) & (col <= width), other=lowest)
    b = tl.load(at, mask=there & (col < width), other=lowest)
    c = tl.load(at + 1, mask=there & (col < width - 1), other=lowest)
    d = tl.load(at + 2, mask=there & (col < width - 2), other=lowest)
    return larger(larger(a, b), larger(c, d))


# Widths are not specialised: a known alignment would give one of the shifted loads another layout than the others.
@triton.jit(do_not_specialize=["height", "width", "out_height", "out_width"])
def pool(x, y, height, width, out_height, out_width, strips, rows: tl.constexpr, block: tl.constexpr):
    plane = (tl.program_id(0) // strips).to(tl.int64)
    first = tl.program_id(0) % strips * rows
    x += plane * height * width
    y += plane * out_height * out_width
    col = tl.program_id(1) * block + tl.arange(0, block)
    a = across(x, first - 1, col, height, width)
    b = across(x, first, col, height, width)
    c = across(x, first + 1, col, height, width)
    d = across(x, first + 2, col, height, width)
    for row in range(first, first + rows):
        coming = across(x, row + 3, col, height, width)
        value = larger(larger(a, b), larger(c, d))
        tl.store(y + row * out_width + col, value, mask=(row < out_height) & (col < out_width))
        a = b
        b = c
        c = d
        d = coming


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.window != (4, 1, 1, 1) or x.dim() != 4 or x.dtype != torch.float32:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = triton.cdiv(height - 1, ROWS)
        grid = (n * c * strips, triton.cdiv(width - 1, BLOCK))
        pool[grid](x, y, height, width, height - 1, width - 1, strips, rows=ROWS, block=BLOCK, num_warps=WARPS)
        return y
