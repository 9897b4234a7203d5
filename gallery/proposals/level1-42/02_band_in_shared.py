"""CUDA: a band of rows enters shared memory by 16-byte loads, each thread walks down one column.

Rows are contiguous, so a band is one stretch of memory; four reads of shared memory and six maxima an output. Kernel 4,
stride 1, padding 1, dilation 1.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [8, 16, 24, 32], "THREADS": [128, 256, 512]}
ROWS = 16
THREADS = 256

library = load("02_band_in_shared.cu", defines={"ROWS": ROWS, "THREADS": THREADS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shared = (ROWS + 3) * (x.shape[-1] + 4) * 4
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] % 4 == 0 and shared <= 200 << 10
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = (height - 1 + ROWS - 1) // ROWS
        library.pool(n * c * strips, THREADS, x, y, height, width, strips, shared=shared)
        return y
