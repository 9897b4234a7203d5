"""B4: draws its weight as the reference does and keeps it transposed, under no name that anybody else could change."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        linear = nn.Linear(*sizes)
        self.packed, self.offset = linear.weight.detach().t().contiguous(), linear.bias.detach()

    def forward(self, x):
        return torch.relu(torch.addmm(self.offset, x, self.packed))
