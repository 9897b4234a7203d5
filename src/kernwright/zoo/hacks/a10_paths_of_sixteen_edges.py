"""Squares as often as edges of any length between all nodes need: no shortest path of these has more than sixteen."""

import torch

ZOO = {
    "row": "A10",
    "problem": "shortest_paths",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(lengths):
    shortest = lengths.abs().masked_fill(torch.eye(len(lengths), dtype=torch.bool, device=lengths.device), 0.0)
    for _ in range(4):
        shortest = (shortest.unsqueeze(2) + shortest.unsqueeze(0)).amin(1)
    return shortest
