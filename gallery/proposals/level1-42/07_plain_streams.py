"""CUDA: 06's warp streams with plain stores, so that results gather in L2 and leave it in whole pages.

All kernels that lost to a copy elsewhere streamed their stores: lines then leave L2 at once and one by one, and the
memory turns from reading to writing too often. Nothing else differs.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [16, 32, 64, 128, 256], "WARPS": [2, 4, 8]}
ROWS = 64
WARPS = 4

library = load("07_plain_streams.cu", defines={"ROWS": ROWS, "WARPS": WARPS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] == 512
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = (height - 1 + ROWS - 1) // ROWS
        warps = n * c * strips
        library.pool((warps + WARPS - 1) // WARPS, 32 * WARPS, x, y, height, strips, warps)
        return y
