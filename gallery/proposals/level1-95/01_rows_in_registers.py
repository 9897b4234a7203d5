"""A row at a time in registers: one read for maximum, sum and target; a small launch takes the mean."""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [1, 2, 4, 8], "WARPS": [2, 4, 8], "HINT": ["", "evict_first"]}
ROWS = 4
WARPS = 4
HINT = "evict_first"
IGNORED = -100


@triton.jit
def losses(
    x, targets, out, rows, classes, each: tl.constexpr, wide: tl.constexpr, exact: tl.constexpr, hint: tl.constexpr
):
    at = tl.arange(0, wide)
    total = 0.0
    count = 0.0
    for i in range(each):
        row = tl.program_id(0) * each + i
        here = row < rows
        start = row.to(tl.int64) * classes
        target = tl.load(targets + row, mask=here, other=-100)
        counts = here & (target != -100)
        if exact:
            v = tl.load(x + start + at, eviction_policy=hint)
        else:
            v = tl.load(x + start + at, mask=(at < classes) & here, other=float("-inf"))
        picked = tl.load(x + start + target, mask=counts, other=0.0)
        top = tl.max(v, 0)
        total += tl.where(counts, tl.log(tl.sum(tl.exp(v - top), 0)) - (picked - top), 0.0)
        count += tl.where(counts, 1.0, 0.0)
    tl.store(out + 2 * tl.program_id(0), total)
    tl.store(out + 2 * tl.program_id(0) + 1, count)


@triton.jit
def mean(parts, out, count, block: tl.constexpr):
    at = tl.arange(0, block)
    total = tl.zeros([block], tl.float32)
    counted = tl.zeros([block], tl.float32)
    first = 0
    while first < count:
        inside = first + at < count
        total += tl.load(parts + 2 * (first + at), mask=inside, other=0.0)
        counted += tl.load(parts + 2 * (first + at) + 1, mask=inside, other=0.0)
        first += block
    tl.store(out, tl.sum(total, 0) / tl.sum(counted, 0))


class ModelNew(torch.nn.Module):
    """Mean cross entropy of rows of logits and their classes."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, classes = predictions.shape
        each = ROWS if rows % ROWS == 0 else 1
        wide = triton.next_power_of_2(classes)
        if wide > 16384:
            return torch.nn.functional.cross_entropy(predictions, targets)
        programs = rows // each
        parts = torch.empty((programs, 2), dtype=torch.float32, device=predictions.device)
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        losses[(programs,)](
            predictions.contiguous(),
            targets.contiguous(),
            parts,
            rows,
            classes,
            each=each,
            wide=wide,
            exact=wide == classes,
            hint=HINT,
            num_warps=WARPS,
        )
        mean[(1,)](parts, out, programs, block=4096, num_warps=16)
        return out
