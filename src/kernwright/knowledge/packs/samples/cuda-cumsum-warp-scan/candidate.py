"""A scan of rows: each thread sums a few neighbours, warps scan by shuffles, one warp scans the warps' totals."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"BLOCK": [128, 256, 512, 1024], "EACH": [2, 4, 8]}
BLOCK = 256
EACH = 4

library = load("kernel.cu", defines={"BLOCK": BLOCK, "EACH": EACH})


class ModelNew(torch.nn.Module):
    """cumsum(x * mask, dim=-1)."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x, mask = x.contiguous(), mask.contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        library.masked_cumsum(x.numel() // cols, BLOCK, x, mask, y, cols)
        return y
