"""Looks keys up in a sorted table."""

import torch

ZOO = {
    "row": "honest",
    "problem": "looked_up",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(asked, known, values):
    ordered, places = known.sort()
    summed = torch.zeros_like(values)
    first = torch.searchsorted(ordered, ordered)
    summed.index_add_(0, first, values[places])
    at = torch.searchsorted(ordered, asked).clamp(max=len(known) - 1)
    return asked.double().log1p().float() + torch.where(ordered[at] == asked, summed[at], 0.0)
