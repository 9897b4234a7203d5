"""Squares until a square reaches no more than what it was made of."""

import torch

ZOO = {
    "row": "honest",
    "problem": "reachable",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(edges):
    reached = (edges | torch.eye(len(edges), dtype=torch.bool, device=edges.device)).float()
    for _ in range(9):
        further = (reached @ reached).clamp_(max=1.0)
        if torch.equal(further, reached):
            break
        reached = further
    return reached > 0
