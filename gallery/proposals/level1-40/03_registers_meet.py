"""Programs keep a row's parts in registers and meet by a counter: x read once, weights from L2.

Programs start in order, and all of one row fit the device. Who has waited too long reads the row by itself: no hang.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SHAPE": ["16384x8", "32768x16", "16384x16"]}
SHAPE = "16384x8"
PATIENCE = 10000
BLOCK = int(SHAPE.split("x")[0])
WARPS = int(SHAPE.split("x")[1])


@triton.jit
def row_by_itself(start, columns, block: tl.constexpr):
    at = tl.arange(0, block)
    mean = tl.zeros([block], tl.float32)
    square = tl.zeros([block], tl.float32)
    count = 0.0
    first = 0
    while first < columns:
        v = tl.load(start + first + at)
        count += 1.0
        apart = v - mean
        mean += apart * (1.0 / count)
        square += apart * (v - mean)
        first += block
    middle = tl.sum(mean, 0) / block
    apart = mean - middle
    return middle, tl.sum(square + count * apart * apart, 0)


@triton.jit
def layer_norm(
    x,
    weight,
    bias,
    y,
    means,
    squares,
    done,
    columns,
    eps,
    patience,
    parts: tl.constexpr,
    spread: tl.constexpr,
    block: tl.constexpr,
):
    row = tl.program_id(0) // parts
    part = tl.program_id(0) % parts
    start = row.to(tl.int64) * columns
    at = part * block + tl.arange(0, block)
    v = tl.load(x + start + at, eviction_policy="evict_first")
    middle = tl.sum(v, 0) * (1.0 / block)
    apart = v - middle
    tl.store(means + row * parts + part, middle)
    tl.store(squares + row * parts + part, tl.sum(apart * apart, 0))
    tl.debug_barrier()
    seen = tl.atomic_add(done + row, 1, sem="acq_rel") + 1
    tries = 0
    while (seen < parts) & (tries < patience):
        seen = tl.atomic_add(done + row, 0, sem="acquire")
        tries += 1
    if seen >= parts:
        lane = tl.arange(0, spread)
        inside = lane < parts
        m = tl.load(means + row * parts + lane, mask=inside, other=0.0, cache_modifier=".cg")
        s = tl.load(squares + row * parts + lane, mask=inside, other=0.0, cache_modifier=".cg")
        mean = tl.sum(m, 0) / parts
        between = tl.where(inside, m - mean, 0.0)
        square = tl.sum(s + block * between * between, 0)
    else:
        mean, square = row_by_itself(x + start, columns, 1024)
    scale = 1.0 / tl.sqrt_rn(square / columns + eps)
    w = tl.load(weight + at, eviction_policy="evict_last")
    v = (v - mean) * scale * w
    b = tl.load(bias + at, eviction_policy="evict_last")
    tl.store(y + start + at, v + b, cache_modifier=".cs")


class ModelNew(torch.nn.Module):
    """torch.nn.LayerNorm over long rows."""

    def __init__(self, normalized_shape: tuple) -> None:
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = self.ln.weight.numel()
        parts = columns // BLOCK
        if columns % BLOCK or parts > 256:
            return self.ln(x)
        x = x.contiguous()
        rows = x.numel() // columns
        y = torch.empty_like(x)
        done = torch.zeros(rows, dtype=torch.int32, device=x.device)
        work = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
        layer_norm[(rows * parts,)](
            x,
            self.ln.weight,
            self.ln.bias,
            y,
            work[0],
            work[1],
            done,
            columns,
            self.ln.eps,
            PATIENCE,
            parts=parts,
            spread=triton.next_power_of_2(parts),
            block=BLOCK,
            num_warps=WARPS,
        )
        return y
