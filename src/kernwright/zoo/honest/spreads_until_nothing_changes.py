"""Spreads labels until a round changes none."""

import torch

ZOO = {
    "row": "honest",
    "problem": "components",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(source, target):
    labels = torch.arange(2048, device=source.device)
    for _ in range(48):
        spread = labels.scatter_reduce(0, target, labels[source], "amin")
        spread = spread.scatter_reduce(0, source, spread[target], "amin")
        if torch.equal(spread, labels):
            break
        labels = spread
    return labels
