"""Triton: a program works at PLACES far places of the tensor at once, so that more banks of the memory are open.

The opposite of 08's single front: if a copy is held up by one region's banks, several fronts share the work better.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"PLACES": [2, 4, 8], "BLOCK": [512, 1024], "WARPS": [4, 2]}
PLACES = 2
BLOCK = 512
WARPS = 4


@triton.jit
def gelus(x, y, apart, places: tl.constexpr, block: tl.constexpr):
    front = tl.arange(0, places).to(tl.int64)[:, None] * apart
    at = front + tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)[None, :]
    v = tl.load(x + at)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)))


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        blocks, left = divmod(x.numel(), (BLOCK * PLACES))
        if left or not 0 < blocks < 2**31 or x.data_ptr() % 16:
            return torch.nn.functional.gelu(x)
        y = torch.empty_like(x)
        gelus[(blocks,)](x, y, x.numel() // PLACES, places=PLACES, block=BLOCK, num_warps=WARPS)
        return y
