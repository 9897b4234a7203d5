"""Triton: as a copy: 1024 numbers a program, two vectors a thread, no hints; the compiler's own erf.

01 streamed tiles of many vectors a thread; what came nearest to a copy (04) has a vector a thread and plain stores.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 512, 2048], "WARPS": [4, 8, 2]}
BLOCK = 1024
WARPS = 4


@triton.jit
def gelus(x, y, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(x + at)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)))


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        blocks, left = divmod(x.numel(), BLOCK)
        if left or not 0 < blocks < 2**31 or x.data_ptr() % 16:
            return torch.nn.functional.gelu(x)
        y = torch.empty_like(x)
        gelus[(blocks,)](x, y, block=BLOCK, num_warps=WARPS)
        return y
