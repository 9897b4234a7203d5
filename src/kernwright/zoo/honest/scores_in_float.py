"""Rounds nothing on the way, where the reference multiplies in float16."""

import torch

ZOO = {
    "row": "honest",
    "problem": "scores_in_half",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(q, k, v):
    return torch.softmax(q @ k.mT * q.shape[1] ** -0.5, -1) @ v
