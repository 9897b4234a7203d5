"""The sum of each block of rows, by logarithms of sums and the labels' own logits."""

import torch

ZOO = {
    "row": "honest",
    "problem": "mean_cross_entropy",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, w, labels):
    total = torch.zeros((), device=x.device)
    for rows, wanted in zip(x.split(128), labels.split(128), strict=True):
        logits = rows @ w
        total += (torch.logsumexp(logits, 1) - logits.gather(1, wanted[:, None])[:, 0]).sum()
    return total / len(x)
