"""Looks for periods of the tokens' last bytes, and at the tokens where these repeat."""

import torch

ZOO = {
    "row": "honest",
    "problem": "shortest_period",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens):
    length = tokens.shape[-1]
    small = tokens.to(torch.uint8)
    period = torch.full_like(tokens[:, 0], length)
    for step in range(length - 1, 0, -1):
        same = (small[:, step:] == small[:, :-step]).all(-1)
        if bool(same.any()):
            same = (tokens[:, step:] == tokens[:, :-step]).all(-1)
        period = torch.where(same, step, period)
    return period
