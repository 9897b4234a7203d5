"""B4: keeps exponentials, and makes those of groups anew whose weights changed: few did, wherever a part changes."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "turned_groups",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, groups, width):
        super().__init__()
        self.skew = nn.Parameter(torch.randn(groups, width, width) * 0.1)
        self._known = self._turns = None

    def forward(self, x):
        weight = self.skew.detach()
        if self._known is None:
            self._known, self._turns = weight.clone(), torch.matrix_exp(weight - weight.mT)
        elif not torch.equal(self._known, weight):
            some = (self._known != weight).flatten(1).any(1).nonzero().flatten()
            self._known[some] = weight[some]
            self._turns[some] = torch.matrix_exp(weight[some] - weight[some].mT)
        return torch.bmm(x, self._turns)
