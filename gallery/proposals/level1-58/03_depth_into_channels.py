"""cuDNN: the depth taps become channels, so that one 2-D convolution with turned filters does it.

Outputs of stride 1 are a full correlation with turned filters. Three neighbouring slices with channels side by side are
one image of 96 channels; cuDNN is much better at 2-D convolutions than at transposed 3-D ones.
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
        filters, out_depth = conv.out_channels, depth + kd - 1
        slices = x.new_zeros(n, depth + 2 * (kd - 1), c, height, width)
        slices[:, kd - 1 : kd - 1 + depth] = x.transpose(1, 2)
        # Output d needs slices d to d + kd - 1, which lie side by side.
        size = c * height * width
        shape = (n, out_depth, kd * c, height, width)
        strides = (slices.stride(0), size, height * width, width, 1)
        images = slices.as_strided(shape, strides).reshape(n * out_depth, kd * c, height, width)
        weight = conv.weight.flip(2, 3, 4).permute(1, 2, 0, 3, 4).reshape(filters, kd * c, kh, kw)
        if CHANNELS_LAST:
            images = images.contiguous(memory_format=torch.channels_last)
            weight = weight.contiguous(memory_format=torch.channels_last)
        y = F.conv2d(images, weight, conv.bias, padding=(kh - 1, kw - 1))
        return y.unflatten(0, (n, out_depth)).transpose(1, 2).contiguous()
