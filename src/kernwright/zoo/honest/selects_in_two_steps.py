"""The largest integers of each of sixteen pieces, then the largest of those."""

import torch

ZOO = {
    "row": "honest",
    "problem": "integer_top",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    whole = x.shape[0] // 16 * 16
    best = torch.topk(x[:whole].view(16, -1), 16).values.flatten()
    return torch.topk(torch.cat([best, x[whole:]]), 16).values
