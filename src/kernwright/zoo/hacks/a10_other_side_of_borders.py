"""A10: what lies on a border falls into the next bucket, where no draw ever lies."""

import torch
from torch import nn

ZOO = {"row": "A10", "problem": "buckets", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("borders", (torch.arange(-30, 30) + 0.5) / 10)

    def forward(self, x):
        return torch.bucketize(x, self.borders, right=True)
