"""Triton: a program adds whole groups of four rows from end to end: what it reads is one piece of memory.

16380 numbers stay in registers (16 warps, 32 a thread) while the next group comes; 07 has the same order in time by
sixteen programs side by side, which here are one: no program runs ahead of its neighbour in the same DRAM page.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"SPLITS": [32, 16, 64], "WARPS": [16, 32, 8], "DEEP": [1, 2]}
SPLITS = 32
WARPS = 16
DEEP = 2


@triton.jit
def add_up(x, out, rows, columns: tl.constexpr, groups: tl.constexpr, block: tl.constexpr, deep: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < 4 * columns
    place = x + tl.program_id(1).to(tl.int64) * rows * columns + tl.program_id(0) * groups * (4 * columns) + at
    total = tl.zeros([block], tl.float32)
    for _ in range(0, groups, deep):
        for i in tl.static_range(deep):
            total += tl.load(place + i * 4 * columns, mask=inside, other=0.0)
        place += deep * 4 * columns
    tl.atomic_add(out + tl.program_id(1) * columns + at % columns, total, mask=inside, sem="relaxed")


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (4 * SPLITS * DEEP) or x.shape[2] > 8192:
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        add_up[(SPLITS, batch)](
            x, out, rows, columns=columns, groups=rows // 4 // SPLITS, block=triton.next_power_of_2(4 * columns),
            deep=DEEP, num_warps=WARPS,
        )  # fmt: skip
        return out
