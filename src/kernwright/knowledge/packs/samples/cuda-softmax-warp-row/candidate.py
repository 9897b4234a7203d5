"""Softmax with a warp a row: the row stays in registers, lanes talk by shuffles, no shared memory and no barrier."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"WARPS": [1, 2, 4, 8]}
WARPS = 4

library = load("kernel.cu", defines={"WARPS": WARPS})
PER_LANE = (4, 8, 16, 32)


class ModelNew(torch.nn.Module):
    """softmax(x, dim=-1) for at most 1024 columns; wider rows go through PyTorch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        cols = x.shape[-1]
        if cols > 32 * PER_LANE[-1]:
            return torch.softmax(x, dim=-1)
        y = torch.empty_like(x)
        rows = x.numel() // cols
        held = next(count for count in PER_LANE if 32 * count >= cols)
        kernel = getattr(library, f"softmax_{held}")
        kernel((rows + WARPS - 1) // WARPS, 32 * WARPS, x, y, rows, cols)
        return y
