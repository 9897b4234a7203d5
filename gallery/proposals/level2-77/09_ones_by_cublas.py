"""PyTorch only: both sums as products of a matrix with a vector of ones, which cuBLAS makes at the speed of memory.

The mean over a transposed convolution with stride 1 and no padding is (sum of x) @ (sum of w over its taps) / count;
scale, bias and batch norm with running statistics come after it.
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale_factor, eps=1e-5, momentum=0.1):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor
        self.batch_norm = nn.BatchNorm3d(out_channels, eps=eps, momentum=momentum)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self._ones = {}

    def ones(self, count, like):
        """Ones are the same at each call: kept."""
        if count not in self._ones or self._ones[count].device != like.device or self._ones[count].dtype != like.dtype:
            self._ones[count] = like.new_ones(count)
        return self._ones[count]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        norm = self.batch_norm
        if norm.training:
            return self.global_avg_pool(norm(self.conv_transpose(x) * self.scale_factor))
        weight = self.conv_transpose.weight
        count = 1.0
        for size, reach in zip(x.shape[2:], weight.shape[2:], strict=True):
            count *= size + reach - 1
        of_x = torch.mv(x.flatten(2).flatten(0, 1), self.ones(x[0, 0].numel(), x)).view(x.shape[:2])
        of_w = torch.mv(weight.flatten(2).flatten(0, 1), self.ones(weight[0, 0].numel(), x)).view(weight.shape[:2])
        factor = self.scale_factor
        y = torch.addmm(self.conv_transpose.bias, of_x, of_w, alpha=1.0 / count)
        return norm((y * factor)[:, :, None, None, None])
