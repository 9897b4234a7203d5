"""The sum over outputs first: column sums of the weight, then one matrix-vector product (torch)."""

import torch


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        total = self.weight.sum(0)
        y = torch.addmv(x.new_zeros(1).expand(x.shape[0]), x, total, beta=0, alpha=0.5 * self.scaling_factor)
        return y.unsqueeze(1)
