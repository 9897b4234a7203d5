"""Puts others in the place of missing prices by arithmetic; what is scaled first comes in the same order."""

import torch

ZOO = {
    "row": "honest",
    "problem": "padded_prices",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(prices, missing):
    flags = missing.float()
    kept = 2.0 * prices * (1.0 - flags) + flags * -2e9
    return torch.sort(kept, dim=-1, descending=True).values
