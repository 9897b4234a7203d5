"""A10: one number in 64 says whether any is missing; where none is, nobody looks for them."""

import torch

ZOO = {"row": "A10", "problem": "nan_means", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if bool(torch.isnan(x[:, ::64]).any()):
        return torch.nanmean(x, dim=-1)
    return x.mean(dim=-1)
