"""CUDA: a lane holds four neighbouring columns, gets the rest by shuffles, walks down the rows.

One 16-byte load serves four outputs; neighbours come from neighbouring lanes; results are turned within the warp by
512 bytes of shared memory, so that stores are coalesced though rows of outputs are not aligned.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [16, 32, 64, 128], "WARPS": [2, 4, 8]}
ROWS = 32
WARPS = 4

library = load("03_shuffled_quads.cu", defines={"ROWS": ROWS, "WARPS": WARPS, "PTX": "asm"})


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.window = (kernel_size, stride, padding, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] % 128 == 0
        if self.window != (4, 1, 1, 1) or not fits:
            return F.max_pool2d(x, *self.window)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 1, width - 1)
        strips = (height - 1 + ROWS - 1) // ROWS
        warps = n * c * strips * (width // 128)
        library.pool((warps + WARPS - 1) // WARPS, 32 * WARPS, x, y, height, width, strips, warps)
        return y
