"""Triton: two rounds of counting instead of a search: coarse borders, then those between two of them.

All loads of a round are independent of one another, so latency counts twice and not seven times. For 100 borders a
round compares with about ten.
"""

import torch
import triton
import triton.language as tl

BLOCK = 512
NUM_WARPS = 4
KNOBS = {"BLOCK": [128, 256, 512, 1024], "NUM_WARPS": [2, 4, 8]}


@triton.jit
def merge(
    dense,
    borders,
    first,
    out,
    count,
    features: tl.constexpr,
    known: tl.constexpr,
    rounds: tl.constexpr,
    ways: tl.constexpr,
    block: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    value = tl.load(dense + at, mask=inside, other=0.0)
    feature = (at % features).to(tl.int32)
    row = borders + feature * known
    low = tl.zeros([block], tl.int32)
    size = known
    for _ in range(rounds):
        size = (size + ways - 1) // ways
        passed = tl.zeros([block], tl.int32)
        for each in tl.static_range(ways - 1):
            place = low + (size * (each + 1) - 1)
            there = inside & (place < known)
            border = tl.load(row + place, mask=there, other=0.0)
            passed += (there & ((border <= value) | (value != value))).to(tl.int32)
        low += passed * size
    there = inside & (low < known)
    border = tl.load(row + low, mask=there, other=0.0)
    low += (there & ((border <= value) | (value != value))).to(tl.int32)
    start = tl.load(first + feature, mask=inside, other=0)
    tl.store(out + at, tl.minimum(low, known) + start, mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, borders: int) -> None:
        super().__init__()
        self.register_buffer("borders", torch.randn(features, borders).sort(dim=1).values)
        self.register_buffer("first", torch.arange(features)[:, None] * (borders + 1))

    def forward(self, dense):
        dense = dense.contiguous()
        out = torch.empty(dense.shape, dtype=torch.int64, device=dense.device)
        count, features, known = dense.numel(), dense.shape[1], self.borders.shape[1]
        rounds, ways = 1, known
        while ways > 13:  # that many ways a round, so that rounds are few and loads too
            rounds += 1
            ways = next(n for n in range(2, known + 1) if n**rounds >= known)
        block = BLOCK if count > 1 << 18 else min(BLOCK, 128)
        merge[(triton.cdiv(count, block),)](
            dense,
            self.borders,
            self.first,
            out,
            count,
            features=features,
            known=known,
            rounds=rounds,
            ways=max(ways, 2),
            block=block,
            num_warps=NUM_WARPS,
        )
        return out
