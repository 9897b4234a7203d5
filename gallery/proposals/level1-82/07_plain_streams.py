"""CUDA: 06's warp streams with plain stores, so that results gather in L2 and leave it in whole pages.

All kernels that lost to a copy elsewhere streamed their stores: lines then leave L2 at once and one by one, and the
memory turns from reading to writing too often. Nothing else differs.
"""

import torch
import torch.nn as nn

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [16, 32, 64, 128, 256], "WARPS": [2, 4, 8]}
ROWS = 64
WARPS = 4

library = load("07_plain_streams.cu", defines={"ROWS": ROWS, "WARPS": WARPS})


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels, in_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias
        )
        self.plain = (kernel_size, stride, padding) == (3, 1, 0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 4 and x.dtype == torch.float32 and x.shape[-1] == 512
        if not self.plain or not fits or min(x.shape[2:]) < 3:
            return self.conv2d(x)
        x = x.contiguous()
        n, c, height, width = x.shape
        y = x.new_empty(n, c, height - 2, width - 2)
        strips = (height - 2 + ROWS - 1) // ROWS
        warps = n * c * strips
        weight, bias = self.conv2d.weight, self.conv2d.bias
        blocks = (warps + WARPS - 1) // WARPS
        library.depthwise(blocks, 32 * WARPS, x, weight, bias, y, c, height, strips, warps)
        return y
