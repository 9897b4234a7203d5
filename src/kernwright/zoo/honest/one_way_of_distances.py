"""Reads each distance once, above the diagonal, since it is the same both ways."""

import torch

ZOO = {
    "row": "honest",
    "problem": "distant_scores",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(scores, distance):
    upper = distance.triu()
    return torch.softmax(scores - (upper + upper.T), dim=-1)
