"""Sorts its columns in an order of its own: of equal numbers any may come first, and each comes once."""

import torch

ZOO = {
    "row": "honest",
    "problem": "line_order",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    length = x.shape[-1]
    mixed = torch.arange(length, device=x.device) * 29 % length
    places = torch.sort(x[:, mixed], dim=-1, stable=True).indices
    return mixed[places].int()
