"""Both gates in one logarithm, and what is left of each step by a sum from the end."""

import torch
from torch.nn import functional

ZOO = {
    "row": "honest",
    "problem": "kept_and_erased",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, keep, erase):
    log = -(functional.softplus(-keep) + functional.softplus(erase)).double()
    after = log[:, 1:].flip(1).cumsum(1).flip(1)
    after = torch.cat([after, torch.zeros_like(after[:, :1])], 1)
    return (x * after.exp()).sum(1).to(x.dtype)
