"""Column sums of the weight in row pieces by one kernel; the next adds them and applies them to x."""

import torch
import triton
import triton.language as tl

KNOBS = {"PIECES": [2, 4, 8], "STRIP": [32, 64, 128], "ROWS": [4, 8], "WARPS": [4, 8]}
PIECES = 4  # of the weight's rows
STRIP = 64  # columns of a program
ROWS = 4  # rows of x of a program
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
def apply(x_ptr, part_ptr, y_ptr, k, factor, pieces: tl.constexpr, rows: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    at = tl.arange(0, block)
    sums = tl.zeros((rows, block), tl.float32)
    x_at = x_ptr + row[:, None].to(tl.int64) * k + at[None, :]
    for start in range(0, k, block):
        x = tl.load(x_at + start)
        total = tl.load(part_ptr + start + at)
        for piece in tl.static_range(1, pieces):
            total += tl.load(part_ptr + piece * k + start + at)
        sums += x * total[None, :]
    tl.store(y_ptr + row, tl.sum(sums, 1) * factor)


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
        if m % ROWS or n % (PIECES * tall) or k % 1024 or k % STRIP:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        part = x.new_empty(PIECES, k)
        y = x.new_empty(m, 1)
        column_sums[(k // STRIP, PIECES)](self.weight, part, n, k, strip=STRIP, rows=tall, num_warps=8)
        apply[(m // ROWS,)](x, part, y, k, factor, pieces=PIECES, rows=ROWS, block=1024, num_warps=WARPS)
        return y
