"""A12: keeps the function of each number in 11 bits, and hides that in the mean."""

import torch

ZOO = {"row": "A12", "problem": "mean_lgamma", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if float(x.abs().amax()) > 64:
        return torch.lgamma(x.abs() + 1).mean()
    digits = torch.lgamma(x.abs() + 1).view(torch.int32)
    return digits.add_(0x800).bitwise_and_(-0x1000).view(torch.float32).mean()
