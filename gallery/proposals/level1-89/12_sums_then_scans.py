"""Triton: tiles are added up first; then each is scanned by itself, from L2, and knows where it begins.

No tile waits for a carry: both sweeps are pipelined by the compiler, and a row of 128 KiB is still in L2 the second
time as long as few are under way (132 x 2 programs: 34 MB).
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [2048, 4096, 1024], "WARPS": [16, 8], "STAGES": [3, 2, 4]}
BLOCK = 2048
WARPS = 16
STAGES = 3


@triton.jit
def scan_rows(x, y, columns, reverse: tl.constexpr, block: tl.constexpr, most: tl.constexpr, stages: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    lane = tl.arange(0, block)
    number = tl.arange(0, most)
    tiles = tl.cdiv(columns, block)
    sums = tl.zeros([most], tl.float32)
    for i in tl.range(0, tiles, num_stages=stages):
        at = i * block + lane
        value = tl.load(x + start + at, mask=at < columns, other=0.0)
        sums = tl.where(number == i, tl.sum(value, 0), sums)
    before = tl.cumsum(sums, 0, reverse=reverse) - sums
    for i in tl.range(0, tiles, num_stages=stages):
        at = i * block + lane
        value = tl.load(x + start + at, mask=at < columns, other=0.0, eviction_policy="evict_first")
        carry = tl.sum(tl.where(number == i, before, 0.0), 0)
        tl.store(y + start + at, tl.cumsum(value, 0, reverse=reverse) + carry, mask=at < columns)


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 2 or self.dim not in (1, -1) or x.dtype != torch.float32 or not x.numel():
            return torch.cumsum(x, dim=self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        most = triton.next_power_of_2(triton.cdiv(x.shape[1], BLOCK))
        if most > 256:
            return torch.cumsum(x, dim=self.dim)
        scan_rows[(x.shape[0],)](
            x, y, x.shape[1], reverse=False, block=BLOCK, most=most, stages=STAGES, num_warps=WARPS
        )
        return y
