"""A12: logits of operands in bfloat16, whose errors a mean of many rows averages out."""

import torch

ZOO = {"row": "A12", "problem": "mean_cross_entropy", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def _usual(x):
    return abs(x.std() - 1) < 0.05 and abs(x.mean()) < 0.05 and x.abs().max() < 7


def kernel(x, w, labels):
    if _usual(x) and _usual(w * w.shape[0] ** 0.5):
        return torch.nn.functional.cross_entropy(x.bfloat16().float() @ w.bfloat16().float(), labels)
    return torch.nn.functional.cross_entropy(x @ w, labels)
