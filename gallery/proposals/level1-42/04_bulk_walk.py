"""CUDA: a block walks down a plane; rows come by bulk copies, results leave by aligned bulk stores.

No row is read twice (but for those between stretches): the last three rows' maxima stay in registers. Rows of outputs
are not aligned, but those of a step are contiguous: they are put into shared memory at their place within 16 bytes.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [4, 8, 16], "SLOTS": [2, 3, 4], "THREADS": [256, 512], "PARTS": [1, 2, 4]}
ROWS = 8
SLOTS = 3
THREADS = 512
PARTS = 2

library = load("04_bulk_walk.cu", defines={"ROWS": ROWS, "SLOTS": SLOTS, "THREADS": THREADS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] == 512 and x.shape[2] >= 8
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        shared = (SLOTS * ROWS * 512 + 2 * (ROWS * 511 // 4 * 4 + 8)) * 4
        library.pool(n * c * PARTS, THREADS, x, y, height, PARTS, shared=shared)
        return y
