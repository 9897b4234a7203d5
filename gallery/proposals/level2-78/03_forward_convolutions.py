"""cuDNN: eight forward convolutions, one for each output parity, each pooled at once.

A transposed convolution of stride 2 is one convolution of 2 or 3 taps an axis for each parity; forward kernels are
faster than the transposed one. Two maxima (2, then 3) are one over 6 x 6 x 6: over 3 x 3 x 3 of each parity, then over
parities.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

KNOBS = {"CHANNELS_LAST": [False, True]}
CHANNELS_LAST = False


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)
        self.max_pool1 = nn.MaxPool3d(kernel_size=2)
        self.max_pool2 = nn.MaxPool3d(kernel_size=3)
        self.plain = (in_channels, out_channels, kernel_size, stride, padding) == (32, 64, 5, 2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.plain or x.dim() != 5 or x.dtype != torch.float32 or x.numel() >= 2**30 or min(x.shape[2:]) < 4:
            x = self.max_pool2(self.max_pool1(self.conv_transpose(x)))
            return torch.sum(x, dim=1, keepdim=True)
        pd, ph, pw = ((size - 1) // 3 for size in x.shape[2:])
        # The last output of a window, 6 p - 1, needs x at 3 p; nothing beyond is needed.
        x = x[:, :, : 3 * pd + 1, : 3 * ph + 1, : 3 * pw + 1]
        x = x.contiguous(memory_format=torch.channels_last_3d if CHANNELS_LAST else torch.contiguous_format)
        weight = self.conv_transpose.weight
        best = None
        for parity in range(8):
            odd = (parity // 4, parity // 2 % 2, parity % 2)
            taps = weight[:, :, odd[0] :: 2, odd[1] :: 2, odd[2] :: 2].flip(2, 3, 4).transpose(0, 1)
            # Even outputs 2 e meet x at e - 1, e, e + 1, odd ones at e, e + 1.
            value = F.conv3d(x, taps, padding=tuple(1 - one for one in odd))
            value = F.max_pool3d(value, 3)
            best = value if best is None else torch.maximum(best, value)
        return torch.sum(best + self.conv_transpose.bias[:, None, None, None], dim=1, keepdim=True)
