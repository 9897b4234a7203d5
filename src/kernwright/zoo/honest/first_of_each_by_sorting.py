"""Finds what stands twice by an order that leaves equal tokens as they are, so that the first of them comes first."""

import torch

ZOO = {
    "row": "honest",
    "problem": "first_of_each",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens, x):
    ordered, places = torch.sort(tokens, dim=-1, stable=True)
    again = torch.zeros_like(x, dtype=torch.bool)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    return x.gather(-1, places).masked_fill_(again, 0.0).sum(-1)
