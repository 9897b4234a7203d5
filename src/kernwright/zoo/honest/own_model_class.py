"""Has a dataclass of its own that is called Model, as the reference's class is."""

import dataclasses

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


@dataclasses.dataclass(frozen=True)
class Model:
    """Cost of a tile, by which the layer picks its block of rows."""

    bytes_per_row: int
    cache_bytes: int = 1 << 20

    def rows(self):
        return max(16, self.cache_bytes // self.bytes_per_row)


class ModelNew(nn.Module):
    """Linear and ReLU in blocks of rows."""

    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)
        self.cost = Model(bytes_per_row=4 * (features + hidden))

    def forward(self, x):
        blocks = x.split(self.cost.rows())
        return torch.cat([torch.relu_(self.linear(block)) for block in blocks])
