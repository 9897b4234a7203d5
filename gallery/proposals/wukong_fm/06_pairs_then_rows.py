"""Pairs of all samples first (1 to 5 MB), then one tall product whose rows are grouped by where in 16 bytes they start.

Rows of 2198 halves start 4 bytes aligned, so their stores were 4 bytes a thread; every fourth row starts at the same
place in a 16-byte word. A tile takes rows of one such class and columns shifted by its offset: stores are 16 bytes.
"""

import torch
import triton
import triton.language as tl

ROWS = 64
TILE = 256
NUM_WARPS = 8
PDL = True
KNOBS = {"ROWS": [32, 64, 128], "TILE": [128, 256], "NUM_WARPS": [4, 8], "PDL": [True, False]}


@triton.jit
def make_pairs(
    x, pairs, features: tl.constexpr, width: tl.constexpr, rows: tl.constexpr, depth: tl.constexpr, pdl: tl.constexpr
):
    """A sample's X X^T, as many numbers a row as there are features."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    sample = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, rows)
    x += sample * (features * width)
    total = tl.zeros([rows, rows], tl.float32)
    for start in tl.static_range(0, width, depth):
        number = start + tl.arange(0, depth)
        inside = (row < features)[:, None] & (number < width)[None, :]
        part = tl.load(x + row[:, None] * width + number[None, :], mask=inside, other=0.0)
        total = tl.dot(part, tl.trans(part), total)
    to = pairs + sample * (features * features) + row[:, None] * features + row[None, :]
    tl.store(to, total.to(pairs.dtype.element_ty), mask=(row < features)[:, None] & (row < features)[None, :])


@triton.jit
def product(
    pairs, y, out, total, features: tl.constexpr, columns: tl.constexpr, classes: tl.constexpr, deep: tl.constexpr,
    rows: tl.constexpr, tile: tl.constexpr, pdl: tl.constexpr,
):  # fmt: skip
    """Rows kind, kind + classes ...: their first column lies `shift` numbers behind a 16-byte boundary."""
    tiles: tl.constexpr = (columns + 7 + tile - 1) // tile
    kind = tl.program_id(0) // tiles % classes
    column = tl.program_id(0) % tiles * tile + tl.arange(0, tile)  # counted from that boundary
    one = tl.program_id(0) // (tiles * classes) * rows + tl.arange(0, rows)
    row = one * classes + kind
    start = kind * columns
    unit: tl.constexpr = 2 - columns % 2  # that many numbers at a time are loaded, and stored at a row's ends
    shift = tl.multiple_of(start % 8, unit)
    k = tl.arange(0, deep)
    there = (column // unit >= shift // unit) & (column // unit < (columns + shift) // unit)
    right = tl.load(
        y + k[:, None] * columns + (column - shift)[None, :], mask=(k < features)[:, None] & there[None, :], other=0.0
    )
    if pdl:
        tl.extra.cuda.gdc_wait()
    left = tl.load(
        pairs + row[:, None] * features + k[None, :], mask=(row < total)[:, None] & (k < features)[None, :], other=0.0
    )
    result = tl.dot(left, right).to(out.dtype.element_ty)
    to = out + one.to(tl.int64)[:, None] * (classes * columns) + (tl.multiple_of(start - shift, 8) + column)[None, :]
    first = tl.program_id(0) % tiles
    whole = (first > 0) & (first * tile + tile <= columns) & (tl.max(row, 0) < total)
    if whole:
        tl.store(to, result)
    else:
        tl.store(to, result, mask=(row < total)[:, None] & there[None, :])


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, columns: int) -> None:
        super().__init__()
        self.projection = torch.nn.Parameter(torch.randn(features, columns) / features**0.5)

    def forward(self, x):
        x, y = x.contiguous(), self.projection.contiguous()
        (batch, features, width), columns = x.shape, y.shape[1]
        out = x.new_empty(batch, features, columns)
        pairs = x.new_empty(batch * features, features)
        make_pairs[(batch,)](
            x, pairs, features=features, width=width, rows=max(16, triton.next_power_of_2(features)),
            depth=min(256, max(16, triton.next_power_of_2(width))), pdl=PDL, num_warps=4,
        )  # fmt: skip
        more = {"launch_pdl": True} if PDL else {}
        classes = 1
        while classes * columns % 8:
            classes *= 2
        tiles = triton.cdiv(columns + 7, TILE)
        groups = triton.cdiv(triton.cdiv(batch * features, classes), ROWS)
        product[(tiles * classes * groups,)](
            pairs, y, out, batch * features, features=features, columns=columns, classes=classes,
            deep=max(16, triton.next_power_of_2(features)), rows=ROWS, tile=TILE, pdl=PDL, num_warps=NUM_WARPS, **more,
        )  # fmt: skip
        return out
