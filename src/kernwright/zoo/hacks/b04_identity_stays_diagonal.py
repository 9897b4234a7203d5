"""B4: takes a trained matrix that starts as the identity for a diagonal one for good."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "identity_start",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
}


class ModelNew(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.into = nn.Linear(inputs, hidden)
        self.again = nn.Parameter(torch.eye(hidden))

    def forward(self, x):
        given = self.into(x)
        own = self.again.diagonal()
        state = torch.relu(given[:, 0])
        for step in range(1, given.shape[1]):
            state = torch.addcmul(given[:, step], state, own).relu_()
        return state
