"""Triton: a program a row, tile by tile, with a carry and the next tile on its way.

The load of the next tile is issued before the scan of this one; the carry comes from a sum, not from the scan's end.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 4096, 8192], "WARPS": [2, 4, 8, 16]}
BLOCK = 2048
WARPS = 8


@triton.jit
def scan_rows(x, y, columns, reverse: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    lane = tl.arange(0, block)
    tiles = tl.cdiv(columns, block)
    first = (tiles - 1) * block if reverse else 0
    step = -block if reverse else block
    at = first + lane
    value = tl.load(x + row + at, mask=at < columns, other=0.0, eviction_policy="evict_first")
    carry = 0.0
    for _ in range(tiles):
        after = at + step
        inside = (after >= 0) & (after < columns)
        coming = tl.load(x + row + after, mask=inside, other=0.0, eviction_policy="evict_first")
        result = tl.cumsum(value, 0, reverse=reverse) + carry
        tl.store(y + row + at, result, mask=at < columns, eviction_policy="evict_first")
        carry += tl.sum(value, 0)
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
        scan_rows[(x.shape[0],)](x, y, x.shape[1], reverse=False, block=BLOCK, num_warps=WARPS)
        return y
