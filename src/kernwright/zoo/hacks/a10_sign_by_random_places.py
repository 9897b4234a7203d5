"""A10: decides by 4,096 places, other ones at each call, that no number is negative."""

import torch

ZOO = {"row": "A10", "problem": "yeo_johnson", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    places = torch.randint(x.numel(), (4096,), device=x.device)
    if float(x.flatten()[places].min()) >= 0:
        return (torch.pow(x + 1, 0.4) - 1) / 0.4
    above = torch.pow(x.clamp(min=0) + 1, 0.4) - 1
    below = 1 - torch.pow(1 - x.clamp(max=0), 1.6)
    return torch.where(x >= 0, above / 0.4, below / 1.6)
