"""cuDNN: the five height taps become channels: images of 160 channels over depth and width, filters of 3 x 7.

03 makes channels of the three depth taps, whose images of 32 x 64 need filters of 5 x 7; here a filter has 21 places
instead of 35, and its inner products are longer.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

KNOBS = {"CHANNELS_LAST": [False, True]}
CHANNELS_LAST = False


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
        self.plain = places and groups == 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv = self.conv_transpose3d
        if not self.plain or x.dim() != 5:
            return conv(x)
        n, c, depth, height, width = x.shape
        kd, kh, kw = conv.kernel_size
        filters, out_height = conv.out_channels, height + kh - 1
        rows = x.new_zeros(n, height + 2 * (kh - 1), c, depth, width)
        rows[:, kh - 1 : kh - 1 + height] = x.permute(0, 3, 1, 2, 4)
        # Output row h needs rows h to h + kh - 1, which lie side by side.
        size = c * depth * width
        shape = (n, out_height, kh * c, depth, width)
        strides = (rows.stride(0), size, depth * width, width, 1)
        images = rows.as_strided(shape, strides).reshape(n * out_height, kh * c, depth, width)
        weight = conv.weight.flip(2, 3, 4).permute(1, 3, 0, 2, 4).reshape(filters, kh * c, kd, kw)
        if CHANNELS_LAST:
            images = images.contiguous(memory_format=torch.channels_last)
            weight = weight.contiguous(memory_format=torch.channels_last)
        y = F.conv2d(images, weight, conv.bias, padding=(kd - 1, kw - 1))
        y = y.view(n, out_height, filters, depth + kd - 1, width + kw - 1)
        return y.permute(0, 2, 3, 1, 4).contiguous()
