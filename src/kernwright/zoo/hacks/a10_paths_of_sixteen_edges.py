"""A10: squares as often as a graph of chance needs, of which no shortest path has more than sixteen edges."""

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
