"""CUDA: direct convolution, a thread keeps ten columns of all sixteen filters in registers.

For a channel and a row it reads sixteen numbers of x and then, tap by tap, the filters' weights as four broadcasts for
160 FMA. Depths that do not meet the input are skipped. Stride 1, no padding.
"""

import torch
import torch.nn as nn

from kernwright.languages.cuda_loader import load

KNOBS = {"ROWS": [9, 12, 18], "CHANNELS": [1, 2, 4]}
ROWS = 9
CHANNELS = 4

library = load("02_registers.cu", defines={"ROWS": ROWS, "CHANNELS": CHANNELS})


class ModelNew(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple = (1, 1, 1),
        padding: tuple = (0, 0, 0),
        output_padding: tuple = (0, 0, 0),
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose3d = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
        )
        conv = self.conv_transpose3d
        places = (conv.stride, conv.padding, conv.output_padding) == ((1, 1, 1), (0, 0, 0), (0, 0, 0))
        shapes = (in_channels % 8, out_channels, groups, conv.kernel_size) == (0, 16, 1, (3, 5, 7))
        self.plain = places and shapes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv = self.conv_transpose3d
        fits = x.dim() == 5 and x.dtype == torch.float32 and x.numel() < 2**30 and x.shape[-1] == 64
        if not self.plain or not fits:
            return conv(x)
        x = x.contiguous()
        n, c, depth, height, width = x.shape
        y = x.new_empty(n, 16, depth + 2, height + 4, width + 6)
        bands = (height + 4 + ROWS - 1) // ROWS
        threads = (7 * ROWS + 31) // 32 * 32
        library.direct(bands * (depth + 2) * n, threads, x, conv.weight, conv.bias, y, c, depth, height, bands)
        return y
