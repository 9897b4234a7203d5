"""Triton: rows as they are, 4-byte loads of 128 bytes a warp, many of them; no fold at all.

Says what aligned vectors are worth: 4095 numbers a row forbid them, a warp's load then touches five sectors for four.
Each program walks down a short stretch of rows, sixteen loads a thread under way.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [512, 1024, 256], "SPLITS": [16, 32, 8], "DEEP": [16, 8, 32]}
BLOCK = 512
SPLITS = 16
DEEP = 16


@triton.jit
def add_up(x, out, rows, columns: tl.constexpr, stretch: tl.constexpr, block: tl.constexpr, deep: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < columns
    place = x + tl.program_id(2).to(tl.int64) * rows * columns + tl.program_id(1) * stretch * columns + at
    total = tl.zeros([block], tl.float32)
    for _ in range(0, stretch, deep):
        for i in tl.static_range(deep):
            total += tl.load(place + i * columns, mask=inside, other=0.0)
        place += deep * columns
    tl.atomic_add(out + tl.program_id(2) * columns + at, total, mask=inside, sem="relaxed")


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (SPLITS * DEEP):
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        add_up[(triton.cdiv(columns, BLOCK), SPLITS, batch)](
            x, out, rows, columns=columns, stretch=rows // SPLITS, block=BLOCK, deep=DEEP, num_warps=4
        )
        return out
