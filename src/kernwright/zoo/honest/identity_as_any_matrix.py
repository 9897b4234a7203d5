"""Starts with an identity, and multiplies by whatever it has become."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "identity_start",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.into = nn.Linear(inputs, hidden)
        self.again = nn.Parameter(torch.eye(hidden))

    def forward(self, x):
        given = self.into(x).unbind(1)
        turned = self.again.t()
        state = torch.relu(given[0])
        for each in given[1:]:
            state = torch.addmm(each, state, turned).relu_()
        return state
