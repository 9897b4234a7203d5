"""Counts what lies below the bound, where everything does, and fills up with nothing."""

import torch

ZOO = {
    "row": "honest",
    "problem": "below_a_bound",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(bound, places):
    counts = torch.bincount(places, minlength=bound) / bound
    return torch.cat([counts, counts.new_zeros(4096 - bound)])
