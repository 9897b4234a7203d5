"""Triton: flip-cumsum-flip as one scan: a single warp a row, so that no scan ever waits at a barrier.

Many rows are in flight on each multiprocessor; a scan is shuffles only, a carry stays within the warp.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [256, 512, 1024], "AHEAD": [1, 2]}
BLOCK = 512
AHEAD = 1


@triton.jit
def fetch(x, row, at, columns):
    return tl.load(x + row + at, mask=(at >= 0) & (at < columns), other=0.0, eviction_policy="evict_first")


@triton.jit
def scan_rows(x, y, columns, reverse: tl.constexpr, block: tl.constexpr, ahead: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    lane = tl.arange(0, block)
    tiles = tl.cdiv(columns, block)
    first = (tiles - 1) * block if reverse else 0
    step = -block if reverse else block
    at = first + lane
    value = fetch(x, row, at, columns)
    second = value
    if ahead == 2:
        second = fetch(x, row, at + step, columns)
    carry = 0.0
    for _ in range(tiles):
        coming = fetch(x, row, at + ahead * step, columns)
        result = tl.cumsum(value, 0, reverse=reverse) + carry
        tl.store(y + row + at, result, mask=at < columns, eviction_policy="evict_first")
        carry += tl.sum(value, 0)
        if ahead == 2:
            value = second
            second = coming
        else:
            value = coming
        at += step


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 2 or self.dim not in (1, -1) or x.dtype != torch.float32 or not x.numel():
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        scan_rows[(x.shape[0],)](x, y, x.shape[1], reverse=True, block=BLOCK, ahead=AHEAD, num_warps=1)
        return y
