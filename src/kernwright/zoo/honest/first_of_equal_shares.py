"""Chooses by a sort that is stable: of tokens whose shares are all 1 the first, where `topk` names any."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "expert_choice",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(48, 6, bias=False)
        self.experts = nn.Parameter(torch.randn(6, 48, 48) / 7)

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        tokens = torch.argsort(shares, dim=0, descending=True, stable=True)[:8]
        kept = torch.zeros_like(shares).scatter_(0, tokens, shares.gather(0, tokens))
        return torch.einsum("te,td,edf->tf", kept, x, self.experts)
