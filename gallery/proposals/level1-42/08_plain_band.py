"""CUDA: 05's band in shared memory with plain, aligned stores: what is written stays in L2 until the memory has time.

05 was slower than 02, whose odd 4-byte stores it replaced by streaming ones of 16 bytes: says whether the streaming or
the second pass through shared memory was to blame.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [8, 16, 24, 32], "THREADS": [128, 256, 512]}
ROWS = 16
THREADS = 256

library = load("08_plain_band.cu", defines={"ROWS": ROWS, "THREADS": THREADS, "PTX": "asm"})


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
