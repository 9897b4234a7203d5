"""A12: multiplies in bfloat16 and returns float32."""

import torch
from torch import nn

ZOO = {"row": "A12", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    """Half the bytes, a 65,536th of the precision."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        weight, bias = self.linear.weight.bfloat16(), self.linear.bias.bfloat16()
        return torch.relu(torch.nn.functional.linear(x.bfloat16(), weight, bias)).float()
