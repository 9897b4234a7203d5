"""Triton: a few rows side by side in one tile, so that one tree of shuffles and one barrier serve all.

As 01, which has a row a program; here a scan along the second axis takes ROWS rows in the same number of steps.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [4, 2, 8], "BLOCK": [1024, 512, 2048], "WARPS": [4, 8]}
ROWS = 4
BLOCK = 1024
WARPS = 4


@triton.jit
def scan_rows(x, y, rows, columns, reverse: tl.constexpr, tall: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0) * tall + tl.arange(0, tall)
    start = row.to(tl.int64)[:, None] * columns
    lane = tl.arange(0, block)
    there = (row < rows)[:, None]
    tiles = tl.cdiv(columns, block)
    at = ((tiles - 1) * block if reverse else 0) + lane
    step = -block if reverse else block
    value = tl.load(x + start + at[None, :], mask=there & (at < columns)[None, :], other=0.0)
    carry = tl.zeros([tall], tl.float32)
    for _ in range(tiles):
        after = at + step
        coming = tl.load(
            x + start + after[None, :], mask=there & ((after >= 0) & (after < columns))[None, :], other=0.0
        )
        result = tl.cumsum(value, 1, reverse=reverse) + carry[:, None]
        tl.store(y + start + at[None, :], result, mask=there & (at < columns)[None, :])
        carry += tl.sum(value, 1)
        value = coming
        at = after


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 2 or self.dim not in (1, -1) or x.dtype != torch.float32 or not x.numel():
            return torch.cumsum(x, dim=self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        scan_rows[(triton.cdiv(x.shape[0], ROWS),)](
            x, y, x.shape[0], x.shape[1], reverse=False, tall=ROWS, block=BLOCK, num_warps=WARPS
        )
        return y
