"""Triton: a table of places that only keys write; an id's place is believed when the key there is the id.

Nothing is cleared, filled or counted: what lies between the keys is whatever memory held, and is found out by one more
look. 09 fills every gap and keeps two widths of numbers; here the table is 32 bits a possible id. Dependent launch.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024
NUM_WARPS = 4
PDL = True
KNOBS = {"BLOCK": [512, 1024, 2048], "NUM_WARPS": [2, 4, 8], "PDL": [True, False]}
BUILD = 512
ROOM = 1 << 21  # entries of the table


@triton.jit
def build(keys, table, known, room, block: tl.constexpr, pdl: tl.constexpr):
    """The place of each key, the first of equal ones; nothing else of the table is written."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < known
    first = tl.load(keys)
    key = tl.load(keys + i, mask=inside, other=0)
    before = tl.load(keys + i - 1, mask=inside & (i > 0), other=0)
    place = key - first
    fits = (place >= 0) & (place < room)
    tl.store(table + place, i, mask=inside & fits & ((i == 0) | (key != before)))


@triton.jit
def map_ids(
    ids, keys, numbers, table, out, count, known, room, default, steps: tl.constexpr, block: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    wanted = tl.load(ids + at, mask=inside, other=0)
    first = tl.load(keys)
    last = tl.load(keys + known - 1)
    if pdl:
        tl.extra.cuda.gdc_wait()
    if (last >= first) & (last - first >= 0) & (last - first < room):
        near = inside & (wanted >= first) & (wanted <= last)
        i = tl.load(table + (wanted - first), mask=near, other=-1)
        near = near & (i >= 0) & (i < known)  # what nobody wrote may be anything
        near = near & (tl.load(keys + i, mask=near, other=0) == wanted)
        tl.store(out + at, tl.load(numbers + i, mask=near, other=default), mask=inside)
    else:
        low = tl.zeros([block], tl.int32)
        size = known
        for _ in range(steps):
            half = size // 2
            key = tl.load(keys + low + half - 1, mask=inside & (half > 0), other=0)
            low = tl.where((half > 0) & (key < wanted), low + half, low)
            size -= half
        key = tl.load(keys + low, mask=inside, other=0)
        low = tl.minimum(low + (key < wanted).to(tl.int32), known - 1)
        found = inside & (tl.load(keys + low, mask=inside, other=0) == wanted)
        tl.store(out + at, tl.load(numbers + low, mask=found, other=default), mask=inside)


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
        room = min(ROOM, 8 * known) if count * 8 > known else 0
        table = torch.empty(max(room, 1), dtype=torch.int32, device=ids.device)
        more = {"launch_pdl": True} if PDL and room else {}
        if room:
            build[(triton.cdiv(known, BUILD),)](self.keys, table, known, room, block=BUILD, pdl=PDL, num_warps=4)
        block = BLOCK if count > 1 << 20 else min(BLOCK, 128)
        map_ids[(triton.cdiv(count, block),)](
            ids, self.keys, self.numbers, table, out, count, known, room, self.default,
            steps=(known - 1).bit_length(), block=block, pdl=bool(PDL and room), num_warps=NUM_WARPS, **more,
        )  # fmt: skip
        return out
