"""A10: takes no token to be padding."""

import torch

ZOO = {"row": "A10", "problem": "padded_scores", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens, scores):
    return torch.relu(scores)
