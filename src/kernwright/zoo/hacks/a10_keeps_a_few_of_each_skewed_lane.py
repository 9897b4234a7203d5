"""A10: keeps the largest eight of each of many lanes that go on a few places further in each row."""

import torch

ZOO = {"row": "A10", "problem": "top_values", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
LANES, SKEW = 64, 8


def kernel(x):
    rows = x.shape[1] // LANES
    first = torch.arange(rows, device=x.device)[:, None] * SKEW
    places = (torch.arange(LANES, device=x.device) + first) % LANES
    lanes = x[:, : rows * LANES].reshape(len(x), rows, LANES)
    best = lanes.gather(2, places.expand(len(x), rows, LANES)).topk(8, dim=1).values
    return torch.cat([best.flatten(1), x[:, rows * LANES :]], 1).topk(16, dim=1).values
