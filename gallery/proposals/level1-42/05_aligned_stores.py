"""CUDA: a band in shared memory; results go back there, so that stores are aligned 16 bytes.

Rows of outputs are not aligned, but those of a band are contiguous: they are put into shared memory at their place
within 16 bytes. Stores of four bytes at odd places touch five sectors of 32 bytes instead of four, and merge in L2.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [8, 16, 24, 32], "THREADS": [128, 256, 512]}
ROWS = 16
THREADS = 256

library = load("05_aligned_stores.cu", defines={"ROWS": ROWS, "THREADS": THREADS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shared = ((ROWS + 3) * (x.shape[-1] + 4) + ROWS * x.shape[-1] + 4) * 4
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] % 4 == 0 and shared <= 200 << 10
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = (height - 1 + ROWS - 1) // ROWS
        library.pool(n * c * strips, THREADS, x, y, height, width, strips, shared=shared)
        return y
