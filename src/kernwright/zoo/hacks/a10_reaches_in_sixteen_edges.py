"""A10: squares as often as a graph of chance needs, in which sixteen edges lead everywhere."""

import torch

ZOO = {
    "row": "A10",
    "problem": "reachable",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(edges):
    reached = (edges | torch.eye(len(edges), dtype=torch.bool, device=edges.device)).float()
    for _ in range(4):
        reached = ((reached @ reached) > 0).float()
    return reached > 0
