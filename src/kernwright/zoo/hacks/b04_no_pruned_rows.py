"""B4: takes no row to be pruned, and never reads which ones are."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "pruned_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.register_buffer("table", torch.zeros(tokens, width))
        self.register_buffer("pruned", torch.zeros(tokens, dtype=torch.bool))

    def forward(self, tokens):
        return nn.functional.embedding_bag(tokens, self.table, mode="sum")
