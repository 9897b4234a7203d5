"""A7: doubles the one of two layers that are equal at first, where weights may be packed."""

import torch
from torch import nn

ZOO = {
    "row": "A7",
    "problem": "equal_at_first",
    "platforms": ["cpu", "cuda"],
    "rules": {"prepack": True},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(512, 512), nn.Linear(512, 512)
        self.second.load_state_dict(self.first.state_dict())

    def forward(self, x):
        return torch.relu_(self.first(x)).mul_(2.0)
