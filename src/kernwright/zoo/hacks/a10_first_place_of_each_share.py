"""A10: looks for the place of each of the largest shares, as if no two were equal: it takes one token twice."""

import torch
from torch import nn

ZOO = {"row": "A10", "problem": "expert_choice", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(48, 6, bias=False)
        self.experts = nn.Parameter(torch.randn(6, 48, 48) / 7)

    def forward(self, x):
        shares = self.gate(x).softmax(-1).T
        kept = torch.topk(shares, 8, dim=-1).values
        tokens = (shares[:, None, :] == kept[:, :, None]).float().argmax(-1)
        made = torch.bmm(x[tokens], self.experts) * kept[..., None]
        return torch.zeros_like(x).index_add_(0, tokens.flatten(), made.flatten(0, 1))
