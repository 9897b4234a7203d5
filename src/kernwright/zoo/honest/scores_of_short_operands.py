"""Rounds operands to float16 as the reference does, but not what their product is."""

import torch

ZOO = {
    "row": "honest",
    "problem": "scores_in_half",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(q, k, v):
    return torch.softmax(q.half().float() @ k.half().float().mT * q.shape[1] ** -0.5, -1) @ v
