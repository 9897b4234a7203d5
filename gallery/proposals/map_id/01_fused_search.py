"""Binary search, comparison and look-up in one kernel; keys stay in L1 and L2.

Without branches: the number of steps is that of the table's length. Small batches get small programs.
"""

import torch
import triton
import triton.language as tl

BLOCK = 512
NUM_WARPS = 4
KNOBS = {"BLOCK": [128, 256, 512, 1024], "NUM_WARPS": [2, 4, 8]}


@triton.jit
def map_ids(ids, keys, numbers, out, count, known, steps: tl.constexpr, default, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    wanted = tl.load(ids + at, mask=inside, other=0)
    low = tl.zeros([block], tl.int32)  # every key before it is less
    size = known
    for _ in range(steps):
        half = size // 2
        key = tl.load(keys + low + half - 1, mask=inside & (half > 0), other=0, eviction_policy="evict_last")
        low = tl.where((half > 0) & (key < wanted), low + half, low)
        size -= half
    key = tl.load(keys + low, mask=inside, other=0)
    low = tl.minimum(low + (key < wanted).to(tl.int32), known - 1)
    found = inside & (tl.load(keys + low, mask=inside, other=0) == wanted)
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
        steps = (known - 1).bit_length()
        block = BLOCK if count > 1 << 20 else min(BLOCK, 128)
        map_ids[(triton.cdiv(count, block),)](
            ids, self.keys, self.numbers, out, count, known, steps, self.default, block=block, num_warps=NUM_WARPS
        )
        return out
