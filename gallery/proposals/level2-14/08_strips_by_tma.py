"""Strips as in 05, whose tiles come by TMA: one request a tile instead of an instruction for every 16 bytes.

128 rows of 128 bytes each are one request; no address arithmetic, and five tiles (80 KB) are under way in each program.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

KNOBS = {"STRIP": [32, 64], "ROWS": [64, 128, 256], "STAGES": [4, 5, 6], "WARPS": [4, 8]}
STRIP = 32
ROWS = 128
STAGES = 6
WARPS = 4


@triton.jit
def strips(x, w, part_ptr, m, n, strip: tl.constexpr, rows: tl.constexpr, stages: tl.constexpr):
    """The strip's share of every output: x (m, k), weight (n, k), part (k / strip, m)."""
    first = tl.program_id(0) * strip
    row = tl.arange(0, rows)
    sums = tl.zeros((rows, strip), tl.float32)
    for start in tl.range(0, n, rows, num_stages=stages):
        sums += w.load([start, first])
    total = tl.sum(sums, 0)
    for start in tl.range(0, m, rows, num_stages=stages):
        y = tl.sum(x.load([start, first]) * total[None, :], 1)
        tl.store(part_ptr + tl.program_id(0) * m + start + row, y)


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
        if self.weight.numel() >= 2**31 or m % ROWS or n % ROWS or k % STRIP:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        count = k // STRIP
        part = x.new_empty(count, m)
        y = x.new_empty(m, 1)
        strips[(count,)](
            TensorDescriptor.from_tensor(x, [ROWS, STRIP]),
            TensorDescriptor.from_tensor(self.weight, [ROWS, STRIP]),
            part, m, n, strip=STRIP, rows=ROWS, stages=STAGES, num_warps=WARPS,
        )  # fmt: skip
        add[(triton.cdiv(m, 8),)](part, y, m, count, factor, rows=8, block=triton.next_power_of_2(count), num_warps=4)
        return y
