"""Whole rows of the weight, added to the column sums by atomics; a second kernel multiplies rows of x.

A program adds up ROWS rows of a piece of BLOCK columns, read as they lie in memory, and adds its sums
to 32 KB in the L2 cache: 64 additions a column. Then a program a row of x, which has the sums in the L1 cache.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [32, 64, 128], "BLOCK": [1024, 2048, 4096], "WARPS": [4, 8]}
ROWS = 64
BLOCK = 2048
WARPS = 8


@triton.jit
def columns(w, total, k, rows: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    first = tl.program_id(1).to(tl.int64) * rows
    sums = tl.zeros((block,), tl.float32)
    for row in tl.range(0, rows, 4):
        one = tl.load(w + (first + row) * k + at, eviction_policy="evict_first")
        two = tl.load(w + (first + row + 1) * k + at, eviction_policy="evict_first")
        three = tl.load(w + (first + row + 2) * k + at, eviction_policy="evict_first")
        four = tl.load(w + (first + row + 3) * k + at, eviction_policy="evict_first")
        sums += (one + two) + (three + four)
    tl.atomic_add(total + at, sums, sem="relaxed")


@triton.jit
def multiply(x, total, y, k, factor, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    sums = tl.zeros((block,), tl.float32)
    for start in range(0, k, block):
        sums += tl.load(x + row.to(tl.int64) * k + start + at) * tl.load(total + start + at)
    tl.store(y + row, tl.sum(sums, 0) * factor)


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
        if self.weight.numel() >= 2**31 or n % ROWS or k % BLOCK:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        total = x.new_zeros(k)
        y = x.new_empty(m, 1)
        columns[(k // BLOCK, n // ROWS)](self.weight, total, k, rows=ROWS, block=BLOCK, num_warps=WARPS)
        multiply[(m,)](x, total, y, k, factor, block=BLOCK, num_warps=WARPS)
        return y
