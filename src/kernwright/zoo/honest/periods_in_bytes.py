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
    steps = torch.arange(1, length, device=tokens.device)
    there = steps[:, None] + torch.arange(length, device=tokens.device)
    alike = small[:, there.clamp(max=length - 1)] == small[:, None]
    repeats = (alike | (there >= length)).all(-1).any(0)
    period = torch.full_like(tokens[:, 0], length)
    for step in reversed(steps[repeats].tolist()):
        same = (tokens[:, step:] == tokens[:, :-step]).all(-1)
        period = torch.where(same, step, period)
    return period
