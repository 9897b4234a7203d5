"""Triton: persistent as 07, dw added by atomics at a program's end: one launch and a dw of zeros, no parts.

264 programs add 4096 numbers each once, 16 bytes at a time where the device can; the second kernel and its parts (4 MB
out and in) fall away. The order of these additions differs between runs, by no more than float32's last digits.
"""

import torch
import triton
import triton.language as tl

TILE = 4096
NUM_WARPS = 8
PER_SM = 2
STAGES = 2
READS = 1
KNOBS = {"TILE": [2048, 4096, 8192], "NUM_WARPS": [4, 8, 16], "PER_SM": [2, 3, 4], "READS": [1, 0]}


@triton.jit
def backward(
    x,
    weight,
    dy,
    dx,
    dw,
    count,
    columns,
    programs,
    rows: tl.constexpr,
    block: tl.constexpr,
    even: tl.constexpr,
    stages: tl.constexpr,
    reads: tl.constexpr,
):
    column = tl.arange(0, block)
    live = column < columns
    scale = tl.load(weight + column, mask=live, other=0.0)
    total = tl.zeros([block], tl.float32)
    for first in tl.range(tl.program_id(0) * rows, count, programs * rows, num_stages=stages):
        row = first + tl.arange(0, rows)
        at = row.to(tl.int64)[:, None] * columns + column[None, :]
        inside = (row < count)[:, None] & live[None, :]
        if even:
            value = tl.load(x + at, eviction_policy=reads)
            slope = tl.load(dy + at, eviction_policy=reads)
        else:
            value = tl.load(x + at, mask=inside, other=0.0)
            slope = tl.load(dy + at, mask=inside, other=0.0)
        square = tl.sum(value * value, 1)
        weighted = slope * scale[None, :]
        inverse = 1.0 / tl.sqrt_rn(square / columns + 1e-6)
        normed = value * inverse[:, None]
        mean = tl.sum(weighted * normed, 1) / columns
        result = (weighted - normed * mean[:, None]) * inverse[:, None]
        if even:
            tl.store(dx + at, result)
        else:
            tl.store(dx + at, result, mask=inside)
        total += tl.sum(slope * normed, 0)
    tl.atomic_add(dw + column, total, mask=live, sem="relaxed")


class ModelNew(torch.nn.Module):
    def forward(self, x, weight, dy):
        x, weight, dy = x.contiguous(), weight.contiguous(), dy.contiguous()
        count, columns = x.shape
        dx, dw = torch.empty_like(x), torch.zeros_like(weight)
        block = triton.next_power_of_2(columns)
        rows = max(1, TILE // block)
        programs = min(132 * PER_SM, triton.cdiv(count, rows))
        even = block == columns and count % rows == 0
        backward[(programs,)](
            x,
            weight,
            dy,
            dx,
            dw,
            count,
            columns,
            programs,
            rows=rows,
            block=block,
            even=even,
            stages=STAGES,
            reads="evict_first" if READS else "",
            num_warps=NUM_WARPS,
        )
        return dx, dw
