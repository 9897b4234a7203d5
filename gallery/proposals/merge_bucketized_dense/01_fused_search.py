"""Triton: binary search in place over tiles of (rows, features), no transposes; borders stay in L1 and L2.

Upper bound as torch.searchsorted has it: what compares with nothing (NaN) goes behind every border.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024
NUM_WARPS = 4
KNOBS = {"BLOCK": [256, 512, 1024, 2048], "NUM_WARPS": [2, 4, 8]}


@triton.jit
def merge(dense, borders, first, out, count, features, known, steps: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    value = tl.load(dense + at, mask=inside, other=0.0)
    feature = (at % features).to(tl.int32)
    row = borders + feature * known
    low = tl.zeros([block], tl.int32)
    size = known
    for _ in range(steps):
        half = size // 2
        border = tl.load(row + low + half - 1, mask=inside & (half > 0), other=0.0)
        low = tl.where((half > 0) & ((border <= value) | (value != value)), low + half, low)
        size -= half
    border = tl.load(row + low, mask=inside, other=0.0)
    low += ((border <= value) | (value != value)).to(tl.int32)
    start = tl.load(first + feature, mask=inside, other=0)
    tl.store(out + at, low + start, mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, borders: int) -> None:
        super().__init__()
        self.register_buffer("borders", torch.randn(features, borders).sort(dim=1).values)
        self.register_buffer("first", torch.arange(features)[:, None] * (borders + 1))

    def forward(self, dense):
        dense = dense.contiguous()
        out = torch.empty(dense.shape, dtype=torch.int64, device=dense.device)
        count, features, known = dense.numel(), dense.shape[1], self.borders.shape[1]
        block = BLOCK if count > 1 << 18 else min(BLOCK, 256)
        merge[(triton.cdiv(count, block),)](
            dense,
            self.borders,
            self.first,
            out,
            count,
            features,
            known,
            steps=(known - 1).bit_length(),
            block=block,
            num_warps=NUM_WARPS,
        )
        return out
