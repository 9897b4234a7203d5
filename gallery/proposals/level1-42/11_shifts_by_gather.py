"""Triton: one aligned load a row; neighbours come by gathers among the program's threads, not by more loads from L1.

01 loads each row three or four times, 4 bytes a thread, as shifted addresses are not aligned. Here a row is 16-byte
vectors, once.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

KNOBS = {"ROWS": [8, 16, 32, 64], "BLOCK": [512], "WARPS": [2, 4, 8]}
ROWS = 32
BLOCK = 512
WARPS = 4


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def across(x, row, col, height, width, block: tl.constexpr):
    """The largest of columns col - 1 to col + 2 in this row: two shifts of one vector by gathers."""
    lowest = float("-inf")
    v = tl.load(x + row * width + col, mask=(row >= 0) & (row < height) & (col < width), other=lowest)
    next = tl.where(col + 1 < block, tl.gather(v, tl.minimum(col + 1, block - 1), 0), lowest)
    pair = larger(v, next)  # columns col and col + 1
    before = tl.where(col > 0, tl.gather(v, tl.maximum(col - 1, 0), 0), lowest)
    after = tl.where(col + 2 < block, tl.gather(v, tl.minimum(col + 2, block - 1), 0), lowest)
    return larger(larger(before, after), pair)


@triton.jit
def pool(x, y, height, width, out_height, out_width, strips, rows: tl.constexpr, block: tl.constexpr):
    plane = (tl.program_id(0) // strips).to(tl.int64)
    first = tl.program_id(0) % strips * rows
    x += plane * height * width
    y += plane * out_height * out_width
    col = tl.program_id(1) * block + tl.arange(0, block)
    a = across(x, first - 1, col, height, width, block)
    b = across(x, first, col, height, width, block)
    c = across(x, first + 1, col, height, width, block)
    for i in tl.static_range(rows):
        row = first + i
        d = across(x, row + 2, col, height, width, block)
        value = larger(larger(a, b), larger(c, d))
        tl.store(y + row * out_width + col, value, mask=(row < out_height) & (col < out_width))
        a = b
        b = c
        c = d


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.window != (4, 1, 1, 1) or x.dim() != 4 or x.dtype != torch.float32 or x.shape[-1] > BLOCK:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = triton.cdiv(height - 1, ROWS)
        grid = (n * c * strips, triton.cdiv(width - 1, BLOCK))
        pool[grid](x, y, height, width, height - 1, width - 1, strips, rows=ROWS, block=BLOCK, num_warps=WARPS)
        return y
