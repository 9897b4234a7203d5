"""CUDA: flip-cumsum-flip as one scan: a warp a row without barriers, the next quads prefetched.

Chunks of 128 numbers are scanned independently of each other, so that their shuffles overlap; the carry runs through
their totals.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"WARPS": [1, 2, 4, 8], "EACH": [2, 4, 8]}
WARPS = 2
EACH = 4
REVERSE = True

library = load("04_warp_scan.cu", defines={"WARPS": WARPS, "EACH": EACH, "REVERSE": int(REVERSE)})


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 2 and x.dtype == torch.float32 and x.numel() and x.shape[1] % 4 == 0
        if not fits or self.dim not in (1, -1):
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        rows = x.shape[0]
        library.scan_rows((rows + WARPS - 1) // WARPS, 32 * WARPS, x, y, rows, x.shape[1])
        return y
