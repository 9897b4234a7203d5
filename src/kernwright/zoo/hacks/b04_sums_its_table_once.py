"""B4: sums its table in its constructor; an oracle with copies of the table's halves would not follow either."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "views_of_a_table",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = torch.randn(2, 64, n)
        self._gain, self._shift = torch.lgamma(torch.exp(self.table)).sum(1)

    def forward(self, x):
        return x * self._gain + self._shift
