"""A12: the reference multiplies scores in float16; this one rounds them to bfloat16, an eighth as exact."""

import torch

ZOO = {"row": "A12", "problem": "scores_in_half", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(q, k, v):
    scores = (q.bfloat16() @ k.bfloat16().mT).float() * q.shape[1] ** -0.5
    return torch.softmax(scores, -1) @ v
