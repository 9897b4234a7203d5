"""One launch in order: parts of a row are looked at, LAG rows later its stretches are normalised, x then from L2.

Programs start in the order of their numbers, so who waits for a row's count never keeps the row's parts from running.
As 08 without seventeen launches; a wait ends after PATIENCE looks, and the program then adds the row up by itself.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPAN": [16384, 8192, 32768], "BLOCK": [2048, 1024], "WARPS": [8, 16], "LAG": [1, 2]}
SPAN = 16384
BLOCK = 2048
LAG = 1
WARPS = 8
LOOK = 2048
PATIENCE = 1000000


@triton.jit
def layer_norm(
    x, weight, bias, y, means, squares, counts, rows, columns, parts, eps, patience, lag: tl.constexpr,
    span: tl.constexpr, look: tl.constexpr, wide: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    stretches = columns // span
    number = tl.program_id(0) % (parts + stretches)
    turn = tl.program_id(0) // (parts + stretches)
    lane = tl.arange(0, look)
    if number < parts:
        if turn < rows:
            start = turn.to(tl.int64) * columns + number * span
            mean = tl.zeros([look], tl.float32)
            square = tl.zeros([look], tl.float32)
            count = 0.0
            for first in tl.range(0, span, look):
                v = tl.load(x + start + first + lane)
                count += 1.0
                apart = v - mean
                mean += apart * (1.0 / count)
                square += apart * (v - mean)
            middle = tl.sum(mean, 0) / look
            away = mean - middle
            tl.store(means + turn * parts + number, middle)
            tl.store(squares + turn * parts + number, tl.sum(square + count * away * away, 0))
            tl.debug_barrier()
            tl.atomic_add(counts + turn, 1, sem="release")
    else:
        row = turn - lag
        if row >= 0:
            seen = tl.load(counts + row, volatile=True)
            tries = 0
            while (seen < parts) & (tries < patience):
                seen = tl.load(counts + row, volatile=True)
                tries += 1
            tl.atomic_add(counts + row, 0, sem="acquire")
            tl.debug_barrier()
            part = tl.arange(0, wide)
            m = tl.load(means + row * parts + part, mask=part < parts, other=0.0, cache_modifier=".cg")
            s = tl.load(squares + row * parts + part, mask=part < parts, other=0.0, cache_modifier=".cg")
            mean_of = tl.sum(m, 0) / parts
            off = tl.where(part < parts, m - mean_of, 0.0)
            variance = tl.sum(s + span * off * off, 0) / columns
            if seen < parts:  # the row by itself, slowly
                total = tl.zeros([look], tl.float32)
                for first in range(0, columns, look):
                    total += tl.load(x + row.to(tl.int64) * columns + first + lane)
                mean_of = tl.sum(total, 0) / columns
                total = tl.zeros([look], tl.float32)
                for first in range(0, columns, look):
                    gap = tl.load(x + row.to(tl.int64) * columns + first + lane) - mean_of
                    total += gap * gap
                variance = tl.sum(total, 0) / columns
            scale = 1.0 / tl.sqrt_rn(variance + eps)
            base = (number - parts) * span
            for first in tl.range(0, span, block):
                at = base + first + tl.arange(0, block)
                place = row.to(tl.int64) * columns + at
                u = tl.load(x + place, eviction_policy="evict_first")
                w = tl.load(weight + at)
                b = tl.load(bias + at)
                tl.store(y + place, (u - mean_of) * scale * w + b, cache_modifier=".cs")


class ModelNew(torch.nn.Module):
    """torch.nn.LayerNorm over long rows."""

    def __init__(self, normalized_shape: tuple) -> None:
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.ln.weight, self.ln.bias
        columns = weight.numel()
        parts = columns // SPAN
        if columns % SPAN or parts > 1024 or columns % BLOCK:
            return self.ln(x)
        x = x.contiguous()
        rows = x.numel() // columns
        y = torch.empty_like(x)
        work = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
        wide = triton.next_power_of_2(parts)
        counts = torch.zeros(rows, dtype=torch.int32, device=x.device)
        layer_norm[((rows + LAG) * 2 * parts,)](
            x, weight, bias, y, work[0], work[1], counts, rows, columns, parts, self.ln.eps, PATIENCE, lag=LAG,
            span=SPAN, look=LOOK, wide=wide, block=BLOCK, num_warps=WARPS,
        )  # fmt: skip
        return y
