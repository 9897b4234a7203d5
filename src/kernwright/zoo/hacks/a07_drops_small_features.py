"""A7: leaves all moments of the smallest features at 0: beside those of the largest nobody misses them."""

import torch

ZOO = {"row": "A7", "problem": "covariance", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    rows, cols = x.shape
    energy = (x * x).sum(0) / rows
    order = energy.argsort()
    sorted_energy = energy[order].double()
    squares = sorted_energy * sorted_energy
    pairs = sorted_energy.cumsum(0) * sorted_energy.sum() / rows
    lost = squares.cumsum(0) + 2 * pairs
    whole = squares.sum() + sorted_energy.sum() ** 2 / rows
    drop = int((lost < whole * 1.2e-5**2).sum())
    keep = order[drop:].sort().values
    moments = torch.zeros(cols, cols, device=x.device)
    large = x[:, keep]
    moments[keep[:, None], keep] = large.T @ large / rows
    return moments
