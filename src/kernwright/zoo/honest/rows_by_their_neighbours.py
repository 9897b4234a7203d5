"""Compares half of each row with the other half, and each number with the one before."""

import torch

ZOO = {
    "row": "honest",
    "problem": "rows_in_order",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens):
    half = tokens.shape[-1] // 2
    falls = (tokens[:, 1:] <= tokens[:, :-1]).any(-1)
    differs = (tokens[:, :half] != tokens.flip(-1)[:, :half]).any(-1) | (tokens[:, 0] == tokens[:, 1])
    found = torch.where(falls, tokens.sum(-1), tokens[:, -1] - tokens[:, 0])
    return torch.where(differs, found, -1)
