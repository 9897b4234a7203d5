"""A13: has every linear layer of the process work on operands rounded to bfloat16, the reference's too."""

import torch
from torch import nn

ZOO = {"row": "A13", "problem": "linear_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_linear = torch.nn.functional.linear


def _rounded(x, weight, bias=None):
    return _linear(x.bfloat16().float(), weight.bfloat16().float(), bias)


torch.nn.functional.linear = _rounded


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)

    def forward(self, x):
        return torch.relu(self.linear(x))
