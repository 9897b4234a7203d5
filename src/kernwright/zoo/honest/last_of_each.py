"""Of equal tokens takes the last one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "one_of_each",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens, x):
    ordered, places = tokens.sort(dim=-1, stable=True)
    again = torch.zeros_like(ordered, dtype=torch.bool)
    again[:, :-1] = ordered[:, 1:] == ordered[:, :-1]
    return torch.where(again, 0.0, x.gather(-1, places)).sum(-1)
