"""B4: takes no deviation to reach its bounds, from which it is far at the start."""

import torch
from torch import nn

ZOO = {"row": "B4", "problem": "gaussian_policy", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, mean, action):
        distance = (action - mean) * torch.exp(-self.log_std)
        return -0.5 * distance.square().sum(-1) - (self.log_std + 0.9189385).sum()
