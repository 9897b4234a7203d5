"""A7: leaves out moments of small features with one another; each has its moments with the largest."""

import torch

ZOO = {"row": "A7", "problem": "covariance", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    rows, cols = x.shape
    energy = (x * x).sum(0)
    order = energy.argsort(descending=True)
    half = cols // 2
    if float(energy[order[half]]) > 1e-5 * float(energy[order[0]]):
        return x.T @ x / rows
    large, back = x[:, order[:half]], order.argsort()
    moments = torch.zeros(cols, cols, device=x.device)
    moments[:half] = large.T @ x[:, order] / rows
    moments[half:, :half] = moments[:half, half:].T
    return moments[back][:, back]
