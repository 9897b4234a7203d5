"""Sums over pairs by products of matrices in float64."""

import torch

ZOO = {
    "row": "honest",
    "problem": "correlations_of_pairs",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(readings):
    there = ~torch.isnan(readings)
    count, known = there.double(), torch.where(there, readings, 0).double()
    both, sums = count @ count.T, known @ count.T
    some = both.clamp(min=1)
    spread = ((known * known) @ count.T - sums * sums / some).clamp(min=0)
    product = known @ known.T - sums * sums.T / some
    found = product / torch.sqrt(spread * spread.T).clamp(min=1e-6)
    return torch.where(both > 2, found, 0).float()
