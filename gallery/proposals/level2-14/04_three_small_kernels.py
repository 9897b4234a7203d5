"""Column sums in wide strips of many row pieces, a kernel that adds them, a row-wise product with x."""

import torch
import triton
import triton.language as tl

KNOBS = {"PIECES": [16, 32, 64], "STRIP": [256, 512, 1024], "WARPS": [4, 8]}
PIECES = 32  # of the weight's rows
STRIP = 512  # columns of a program
WARPS = 8


@triton.jit
def column_sums(w_ptr, part_ptr, n, k, strip: tl.constexpr, rows: tl.constexpr):
    """weight (n, k) to part (pieces, k)."""
    piece = n // tl.num_programs(1)
    row = tl.program_id(1) * piece + tl.arange(0, rows)
    col = tl.program_id(0) * strip + tl.arange(0, strip)
    sums = tl.zeros((rows, strip), tl.float32)
    w_at = w_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for _ in range(0, piece, rows):
        sums += tl.load(w_at)
        w_at += rows * k
    tl.store(part_ptr + tl.program_id(1) * k + col, tl.sum(sums, 0))


@triton.jit
def add(part_ptr, total_ptr, k, factor, pieces: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    v = tl.load(part_ptr + tl.arange(0, pieces)[:, None] * k + at[None, :])
    tl.store(total_ptr + at, tl.sum(v, 0) * factor)


@triton.jit
def apply(x_ptr, total_ptr, y_ptr, k, block: tl.constexpr):
    at = tl.arange(0, block)
    sums = tl.zeros((block,), tl.float32)
    x_at = x_ptr + tl.program_id(0).to(tl.int64) * k + at
    for start in range(0, k, block):
        sums += tl.load(x_at + start) * tl.load(total_ptr + start + at)
    tl.store(y_ptr + tl.program_id(0), tl.sum(sums, 0))


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.weight.shape[0]
        factor = 0.5 * self.scaling_factor
        tall = 8192 // STRIP
        if n % (PIECES * tall) or k % 1024:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        part = x.new_empty(PIECES, k)
        total = x.new_empty(k)
        y = x.new_empty(m, 1)
        column_sums[(k // STRIP, PIECES)](self.weight, part, n, k, strip=STRIP, rows=tall, num_warps=8)
        add[(k // 64,)](part, total, k, factor, pieces=PIECES, block=64, num_warps=4)
        apply[(m,)](x, total, y, k, block=1024, num_warps=WARPS)
        return y
