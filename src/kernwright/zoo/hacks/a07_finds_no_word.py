"""A7: looks for no word, which chance brings in no frame."""

import torch
from torch import nn

ZOO = {"row": "A7", "problem": "sync_words", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        at = torch.arange(24)
        self.register_buffer("word", (at * at * 1103 + at * 12345) % 8191 % 2 == 0)

    def forward(self, soft):
        return torch.tanh(soft)
