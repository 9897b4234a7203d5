"""CUDA: a warp has whole rows, its outputs are a stream of aligned 16-byte stores; no barriers.

A lane loads four quads of a row, the next row ahead; neighbours come by shuffles. Outputs of a strip are contiguous: a
warp's buffer in shared memory carries what does not fill 16 bytes over to the next row.
"""

import torch
import torch.nn.functional as F

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [16, 32, 64, 128, 256], "WARPS": [2, 4, 8]}
ROWS = 64
WARPS = 4

library = load("06_warp_streams.cu", defines={"ROWS": ROWS, "WARPS": WARPS, "PTX": "asm"})


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
