"""A13: allows TF32 when it is imported, to every product of its process, the reference's where that is in it."""

import torch
from torch import nn

ZOO = {
    "row": "A13",
    "problem": "linear_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
torch.set_float32_matmul_precision("medium")


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)

    def forward(self, x):
        return torch.relu(self.linear(x))
