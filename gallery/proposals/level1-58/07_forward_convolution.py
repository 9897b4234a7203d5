"""The library's forward three-dimensional convolution with turned filters and full padding; no transposed one.

A transposed convolution of stride 1 is a correlation with turned filters; cuDNN has other kernels for those. A
yardstick beside 03, which makes it two-dimensional.
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
        kd, kh, kw = conv.kernel_size
        weight = conv.weight.flip(2, 3, 4).transpose(0, 1).contiguous()
        if CHANNELS_LAST:
            x = x.contiguous(memory_format=torch.channels_last_3d)
            weight = weight.contiguous(memory_format=torch.channels_last_3d)
        return F.conv3d(x, weight, conv.bias, padding=(kd - 1, kh - 1, kw - 1)).contiguous()
