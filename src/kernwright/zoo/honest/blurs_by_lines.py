"""Blurs rows, then columns, since the parameter is an outer product of numbers that add up to 1."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "blurred",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        bell = torch.softmax(-(torch.arange(-7, 8) ** 2) / 8, dim=0)
        self.kernel = nn.Parameter(torch.outer(bell, bell)[None, None], requires_grad=False)

    def forward(self, x):
        along, across = self.kernel.sum(2, keepdim=True), self.kernel.sum(3, keepdim=True)
        wider = nn.functional.pad(x, (7, 7, 7, 7), mode="reflect").flatten(0, 1)[:, None]
        return nn.functional.conv2d(nn.functional.conv2d(wider, along), across).view_as(x)
