"""Linear, scaling, residual: (1 + s) folded into weight and bias, one cuBLAS float32 call."""

import torch


class ModelNew(torch.nn.Module):
    """Linear, scaling, residual."""

    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = torch.nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def plain(self, x):
        y = self.matmul(x)
        return y * self.scaling_factor + y

    def forward(self, x):
        factor = 1.0 + self.scaling_factor
        return torch.nn.functional.linear(x, self.matmul.weight * factor, self.matmul.bias * factor)
