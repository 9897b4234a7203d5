"""B4: multiplies two of its matrices in its constructor, which lie in one piece of memory with the third."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "three_chunks",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.up, self.down, self.out = (torch.randn(3 * n, n) / n**0.5).chunk(3)
        self._made = self.down @ self.out

    def forward(self, x):
        return (x @ self.up) @ self._made
