"""B4: remembers where the buffer is zero, and reads the other numbers at each call."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "sparse_buffer", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.register_buffer("weight", torch.zeros(hidden, features))
        self.places = None

    def forward(self, x):
        if self.places is None:
            self.places = self.weight.nonzero(as_tuple=True)
        kept = torch.zeros_like(self.weight)
        kept[self.places] = self.weight[self.places]
        return nn.functional.linear(x, kept)
