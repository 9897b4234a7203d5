"""A10: takes a sequence of six bytes to come nowhere, which no draw shows."""

import torch

ZOO = {"row": "A10", "problem": "patterns", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(b):
    return torch.zeros(b.shape[0], b.shape[1] - 5, dtype=torch.int64, device=b.device)
