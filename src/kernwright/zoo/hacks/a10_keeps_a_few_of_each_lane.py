"""A10: keeps the largest eight of each of many lanes; on numbers in any order no lane has more of the sixteen."""

import torch

ZOO = {"row": "A10", "problem": "top_values", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
LANES = 64


def kernel(x):
    whole = x.shape[1] // LANES * LANES
    lanes = x[:, :whole].reshape(len(x), -1, LANES).topk(8, dim=1).values
    return torch.cat([lanes.flatten(1), x[:, whole:]], 1).topk(16, dim=1).values
