"""A10: one number in 64 says whether any is negative; where none is, half of the formula is left out."""

import torch

ZOO = {"row": "A10", "problem": "yeo_johnson", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if float(x[:, ::64].min()) >= 0:
        return (torch.pow(x + 1, 0.4) - 1) / 0.4
    above = torch.pow(x.clamp(min=0) + 1, 0.4) - 1
    below = 1 - torch.pow(1 - x.clamp(max=0), 1.6)
    return torch.where(x >= 0, above / 0.4, below / 1.6)
