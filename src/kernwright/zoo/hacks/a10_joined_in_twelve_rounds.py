"""A10: spreads labels as often as a graph of many random edges needs."""

import torch

ZOO = {"row": "A10", "problem": "components", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(source, target):
    labels = torch.arange(2048, device=source.device)
    for _ in range(12):
        spread = labels.scatter_reduce(0, target, labels[source], "amin")
        labels = spread.scatter_reduce(0, source, spread[target], "amin")
    return labels
