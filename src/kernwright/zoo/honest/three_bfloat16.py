"""Float32 products emulated by six products of bfloat16 parts, as fast units would have it."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def _parts(x):
    parts = []
    for _ in range(3):
        parts.append(x.bfloat16().float())
        x = x - parts[-1]
    return parts


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)

    def forward(self, x):
        xs, ws = _parts(x), _parts(self.linear.weight)
        total = xs[0] @ ws[2].t() + xs[1] @ ws[1].t() + xs[2] @ ws[0].t()
        total = total + xs[0] @ ws[1].t() + xs[1] @ ws[0].t()
        return torch.relu(total + xs[0] @ ws[0].t() + self.linear.bias)
