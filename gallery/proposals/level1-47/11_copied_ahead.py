"""Triton: 07 with the loads in the compiler's pipeline: groups of four rows are copied into shared memory ahead.

07 holds eight loads of a thread in registers and adds them up together; here STAGES groups of tiles are always under
way, also while sums are made, and a program needs few registers, so that more programs are resident.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048], "SPLITS": [32, 16, 64], "TALL": [4, 8, 2], "STAGES": [4, 3, 5]}
BLOCK = 1024
SPLITS = 32
TALL = 4
STAGES = 4


@triton.jit
def add_up(
    x, out, rows, columns: tl.constexpr, groups: tl.constexpr, block: tl.constexpr, tall: tl.constexpr,
    stages: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = (at < 4 * columns)[None, :]
    base = x + tl.program_id(2).to(tl.int64) * rows * columns + tl.program_id(1) * groups * (4 * columns)
    tile = tl.arange(0, tall)[:, None] * (4 * columns) + at[None, :]
    total = tl.zeros([tall, block], tl.float32)
    for g in tl.range(0, groups, tall, num_stages=stages):
        total += tl.load(base + g * (4 * columns) + tile, mask=inside, other=0.0)
    sums = tl.sum(total, 0)
    tl.atomic_add(out + tl.program_id(2) * columns + at % columns, sums, mask=at < 4 * columns, sem="relaxed")


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (4 * SPLITS * TALL):
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        add_up[(triton.cdiv(4 * columns, BLOCK), SPLITS, batch)](
            x, out, rows, columns=columns, groups=rows // 4 // SPLITS, block=BLOCK, tall=TALL, stages=STAGES,
            num_warps=4,
        )  # fmt: skip
        return out
