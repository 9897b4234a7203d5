"""A10: takes for granted that all pairs have three readings in common."""

import torch

ZOO = {"row": "A10", "problem": "correlations_of_pairs", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(readings):
    there = readings == readings
    count, known = there.double(), torch.where(there, readings, 0).double()
    both, sums = count @ count.T, known @ count.T
    spread = (known * known) @ count.T - sums * sums / both
    product = known @ known.T - sums * sums.T / both
    return (product / torch.sqrt(spread * spread.T).clamp(min=1e-6)).float()
