"""48 programs a row keep it in registers and meet by a counter; plain accesses, as copies have them.

As 03, which streamed both ways (3695 us): loads and stores without hints, so that results gather in L2. 48 programs
of 8192 numbers a row, so that four rows' programs are resident on any multiprocessor and someone always has work.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [8192, 16384, 32768], "WARPS": [8, 16]}
BLOCK = 8192
WARPS = 8
PATIENCE = 10000


@triton.jit
def row_by_itself(start, columns, block: tl.constexpr):
    at = tl.arange(0, block)
    top = tl.full([block], float("-inf"), tl.float32)
    total = tl.zeros([block], tl.float32)
    first = 0
    while first < columns:
        v = tl.load(start + first + at, mask=first + at < columns, other=float("-inf"))
        higher = tl.maximum(top, v)
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(top - shift) + tl.exp(v - shift)
        top = higher
        first += block
    most = tl.max(top, 0)
    return most, tl.sum(total * tl.exp(top - tl.where(most == float("-inf"), 0.0, most)), 0)


@triton.jit
def softmax(x, y, tops, sums, done, columns, patience, parts: tl.constexpr, spread: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0) // parts
    part = tl.program_id(0) % parts
    start = row.to(tl.int64) * columns
    at = start + part * block + tl.arange(0, block)
    v = tl.load(x + at)
    top = tl.max(v, 0)
    shift = tl.where(top == float("-inf"), 0.0, top)
    v = tl.exp(v - shift)
    tl.store(tops + row * parts + part, top)
    tl.store(sums + row * parts + part, tl.sum(v, 0))
    tl.debug_barrier()
    seen = tl.atomic_add(done + row, 1, sem="acq_rel") + 1
    tries = 0
    while (seen < parts) & (tries < patience):
        seen = tl.atomic_add(done + row, 0, sem="acquire")
        tries += 1
    if seen >= parts:
        lane = tl.arange(0, spread)
        inside = lane < parts
        all_tops = tl.load(tops + row * parts + lane, mask=inside, other=float("-inf"), cache_modifier=".cg")
        all_sums = tl.load(sums + row * parts + lane, mask=inside, other=0.0, cache_modifier=".cg")
        most = tl.max(all_tops, 0)
        total = tl.sum(all_sums * tl.exp(all_tops - tl.where(most == float("-inf"), 0.0, most)), 0)
    else:
        most, total = row_by_itself(x + start, columns, 1024)
    tl.store(y + at, v * (tl.exp(shift - most) / total))


class ModelNew(torch.nn.Module):
    """softmax(x, dim=1) of a matrix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        rows, columns = x.shape
        if columns % BLOCK or columns // BLOCK > 64:
            return torch.softmax(x, dim=1)
        parts = columns // BLOCK
        y = torch.empty_like(x)
        done = torch.zeros(rows, dtype=torch.int32, device=x.device)
        work = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
        softmax[(rows * parts,)](
            x,
            y,
            work[0],
            work[1],
            done,
            columns,
            PATIENCE,
            parts=parts,
            spread=triton.next_power_of_2(parts),
            block=BLOCK,
            num_warps=WARPS,
        )
        return y
