"""CUDA: 4 x 4 pixels and four channels a thread: 64 sums, one load of weights for 64 products, four lanes a softmax.

As few shared loads as in 09 and as many warps as in 10; x is read four times from the L1 cache instead.
"""

import torch
import torch.nn as nn

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [64, 128, 256], "BLOCKS": [3, 4]}
THREADS = 128
BLOCKS = 4

library = load("11_four_channels.cu", defines={"THREADS": THREADS, "BLOCKS": BLOCKS})


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool_kernel_size)
        self.pool2 = nn.MaxPool3d(pool_kernel_size)
        self.plain = (in_channels, out_channels, kernel_size, pool_kernel_size) == (3, 16, 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 5 and x.dtype == torch.float32 and x.shape[-1] % 4 == 0 and min(x.shape[2:]) >= 6
        if not self.plain or not fits or x.numel() >= 2**31:
            return self.pool2(self.pool1(torch.softmax(self.conv(x), dim=1)))
        x = x.contiguous()
        n, _, depth, height, width = x.shape
        pd, ph, pw = (depth - 2) // 4, (height - 2) // 4, (width - 2) // 4
        y = x.new_empty(n, 16, pd, ph, pw)
        windows = n * pd * ph * pw
        blocks = (windows * 16 + THREADS - 1) // THREADS
        library.fused(
            blocks, THREADS, x, self.conv.weight, self.conv.bias, y, windows, depth, height, width, pd, ph, pw
        )
        return y
