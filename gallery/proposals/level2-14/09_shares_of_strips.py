"""A strip's rows of the weight by SPLIT programs, each of which applies its sums to the whole strip of x.

x w = x w1 + x w2: no program needs another's sums. 512 programs instead of 256 even out what multiprocessors have to
do; x is read SPLIT times, but for the first from the L2 cache.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPLIT": [1, 2, 4], "STRIP": [32, 64], "ROWS": [64, 128], "STAGES": [3, 4, 5], "WARPS": [4, 8]}
SPLIT = 2
STRIP = 32
ROWS = 128
STAGES = 5
WARPS = 4


@triton.jit
def strips(x_ptr, w_ptr, part_ptr, m, n, k, strip: tl.constexpr, rows: tl.constexpr, stages: tl.constexpr):
    """A share of the strip's share of every output: x (m, k), weight (n, k), part (shares, k / strip, m)."""
    col = tl.program_id(0) * strip + tl.arange(0, strip)
    row = tl.arange(0, rows)
    sums = tl.zeros((rows, strip), tl.float32)
    w_at = w_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    share = n // tl.num_programs(1)
    begin = tl.program_id(1) * share
    for start in tl.range(begin, begin + share, rows, num_stages=stages):
        sums += tl.load(w_at + start * k)
    total = tl.sum(sums, 0)
    x_at = x_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for start in tl.range(0, m, rows, num_stages=stages):
        y = tl.sum(tl.load(x_at + start * k) * total[None, :], 1)
        tl.store(part_ptr + (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * m + start + row, y)


@triton.jit
def add(part_ptr, y_ptr, m, count, factor, rows: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < count)[:, None] & (row < m)[None, :]
    v = tl.load(part_ptr + at[:, None] * m + row[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + row, tl.sum(v, 0) * factor, mask=row < m)


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
        if self.weight.numel() >= 2**31 or m % ROWS or n % (ROWS * SPLIT) or k % STRIP:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        count = k // STRIP
        part = x.new_empty(SPLIT * count, m)
        y = x.new_empty(m, 1)
        strips[(count, SPLIT)](x, self.weight, part, m, n, k, strip=STRIP, rows=ROWS, stages=STAGES, num_warps=WARPS)
        rows = SPLIT * count
        add[(triton.cdiv(m, 8),)](part, y, m, rows, factor, rows=8, block=triton.next_power_of_2(rows), num_warps=4)
        return y
