"""Made a transposed view of its weight when it was built, which follows the weight."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self.turned = self.linear.weight.detach().t()

    def forward(self, x):
        return torch.addmm(self.linear.bias, x, self.turned).relu_()
