"""CUDA: flip-cumsum-flip as one scan: a block a row, one barrier a tile, the next tile prefetched.

A thread holds EACH quads of a tile, warps scan their sums by shuffles, and every warp scans all the totals for itself;
two buffers for the totals make one barrier enough.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [128, 256, 512], "EACH": [1, 2, 4]}
THREADS = 256
EACH = 4
REVERSE = True

library = load("03_block_scan.cu", defines={"THREADS": THREADS, "EACH": EACH, "REVERSE": int(REVERSE)})


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
        library.scan_rows(x.shape[0], THREADS, x, y, x.shape[1])
        return y
