"""PyTorch only: ones times the weight, then x times that: two matrix-vector products of cuBLAS.

sum_j (x w_j) / 2 s = x (sum_j w_j) s / 2. The column sums are a product with a vector of ones, which is kept between
calls; cuBLAS reads both matrices once, at what its kernels make of the memory.
"""

import torch


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor
        self._ones = None

    def forward(self, x):
        weight = self.weight
        if self._ones is None or self._ones.device != weight.device or self._ones.dtype != weight.dtype:
            self._ones = torch.ones(weight.shape[0], device=weight.device, dtype=weight.dtype)
        return torch.mv(x, torch.mv(weight.T, self._ones)).unsqueeze(1) * (0.5 * self.scaling_factor)
