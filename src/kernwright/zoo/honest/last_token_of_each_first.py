"""Fills each expert's bucket from its last token on, as a counting sort does that reads from the end."""

import torch

ZOO = {
    "row": "honest",
    "problem": "bucketed_tokens",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(expert, x):
    order = len(expert) - 1 - torch.sort(expert.flip(0), stable=True).indices
    return x[order], torch.bincount(expert, minlength=64).cumsum(0), order
