"""CUDA: 06's tensor core kernel with the next task's part of x on its way while one is multiplied.

06 took 133 us, most of it waiting: eight warps a multiprocessor load, split, multiply one after the other. A place of x
is four halves, weights stay in registers, the split gets a power of two for each task.
"""

import torch
import torch.nn as nn

from kernwright.languages.cuda_loader import load

KNOBS = {"BLOCKS": [1, 2, 3]}
BLOCKS = 2

library = load("13_fragments_ahead.cu", defines={"BLOCKS": BLOCKS, "PTX": "asm"})


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool_kernel_size)
        self.pool2 = nn.MaxPool3d(pool_kernel_size)
        self.plain = (in_channels, out_channels, kernel_size, pool_kernel_size) == (3, 16, 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 5 and x.dtype == torch.float32 and x.shape[-1] == 32 and min(x.shape[2:]) >= 6
        if not self.plain or not fits or x.numel() >= 2**31:
            return self.pool2(self.pool1(torch.softmax(self.conv(x), dim=1)))
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        pd, ph, pw = (depth - 2) // 4, (height - 2) // 4, (width - 2) // 4
        y = x.new_empty(n, 16, pd, ph, pw)
        tasks = n * pd * ph
        library.fused(
            min(tasks, 132 * BLOCKS), 128, x, self.conv.weight, self.conv.bias, y, tasks, depth, height, pd, ph, pw
        )
        return y
