"""Triton: 07's short stretches in the order of memory, but parts are written, and a second launch folds them.

No atomics: 16 MB of parts a stretch count of 8 go through L2, sums come in the same order at each call, and nothing
has to be zero before.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 512], "SPLITS": [16, 8, 32], "DEEP": [8, 4, 16]}
BLOCK = 1024
SPLITS = 16
DEEP = 8


@triton.jit
def add_up(x, parts, rows, columns: tl.constexpr, groups: tl.constexpr, block: tl.constexpr, deep: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < 4 * columns
    place = x + tl.program_id(2).to(tl.int64) * rows * columns + tl.program_id(1) * groups * (4 * columns) + at
    total = tl.zeros([block], tl.float32)
    for _ in range(0, groups, deep):
        for i in tl.static_range(deep):
            total += tl.load(place + i * 4 * columns, mask=inside, other=0.0)
        place += deep * 4 * columns
    to = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * (4 * columns) + at
    tl.store(parts + to, total, mask=inside)


@triton.jit
def fold(parts, out, columns: tl.constexpr, count: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    number = tl.arange(0, count)
    place = parts + tl.program_id(1) * (count * columns) + number[:, None] * columns + at[None, :]
    total = tl.sum(tl.load(place, mask=(at < columns)[None, :], other=0.0), 0)
    tl.store(out + tl.program_id(1) * columns + at, total, mask=at < columns)


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (4 * SPLITS * DEEP):
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        out = torch.empty((batch, 1, columns), dtype=x.dtype, device=x.device)
        parts = torch.empty((batch, SPLITS, 4 * columns), dtype=x.dtype, device=x.device)
        add_up[(triton.cdiv(4 * columns, BLOCK), SPLITS, batch)](
            x, parts, rows, columns=columns, groups=rows // 4 // SPLITS, block=BLOCK, deep=DEEP, num_warps=4
        )
        fold[(triton.cdiv(columns, 64), batch)](parts, out, columns=columns, count=4 * SPLITS, block=64, num_warps=4)
        return out
