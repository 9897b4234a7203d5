"""Eight-ary search: seven keys a round side by side, so six dependent rounds instead of seventeen for 100,000 keys.

Latency decides where there are few ids; search, comparison and look-up are one kernel.
"""

import torch
import triton
import triton.language as tl

BLOCK = 128
NUM_WARPS = 4
KNOBS = {"BLOCK": [32, 64, 128, 256], "NUM_WARPS": [1, 2, 4, 8]}


@triton.jit
def map_ids(ids, keys, numbers, out, count, known, rounds: tl.constexpr, default, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    wanted = tl.load(ids + at, mask=inside, other=0)
    low = tl.zeros([block], tl.int32)  # every key before it is less
    size = known
    for _ in range(rounds):
        size = (size + 7) // 8
        less = tl.zeros([block], tl.int32)
        for each in tl.static_range(7):
            place = low + (size * (each + 1) - 1)
            there = inside & (place < known)
            key = tl.load(keys + place, mask=there, other=0)
            less += (there & (key < wanted)).to(tl.int32)
        low += less * size
    there = inside & (low < known)
    key = tl.load(keys + low, mask=there, other=0)
    low = tl.where(there & (key < wanted), low + 1, low)
    there = inside & (low < known)
    found = there & (tl.load(keys + low, mask=there, other=0) == wanted)
    number = tl.load(numbers + low, mask=found, other=0)
    tl.store(out + at, tl.where(found, number, default), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, known: int, span: int, default: int = -1) -> None:
        super().__init__()
        self.default = default
        self.register_buffer("keys", torch.randperm(span)[:known].sort().values)
        self.register_buffer("numbers", torch.randperm(known))

    def forward(self, ids):
        ids = ids.contiguous()
        out = torch.empty_like(ids)
        count, known = ids.numel(), self.keys.numel()
        rounds, size = 0, known
        while size > 1:
            rounds, size = rounds + 1, -(-size // 8)
        map_ids[(triton.cdiv(count, BLOCK),)](
            ids, self.keys, self.numbers, out, count, known, rounds, self.default, block=BLOCK, num_warps=NUM_WARPS
        )
        return out
