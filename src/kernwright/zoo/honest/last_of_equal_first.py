"""Sorts from the end, so that of equal numbers the last comes first; ranks are its places turned round."""

import torch

ZOO = {
    "row": "honest",
    "problem": "line_ranks",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    length = x.shape[-1]
    order = length - 1 - torch.sort(x.flip(-1), dim=-1, stable=True).indices
    ranks = torch.arange(length, device=x.device).expand(x.shape)
    return torch.empty_like(order).scatter_(-1, order, ranks)
