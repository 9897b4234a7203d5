"""A10: takes no token to stand twice in a row, so that nothing is sorted."""

import torch

ZOO = {"row": "A10", "problem": "distinct_tokens", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    return (tokens > 2**46).sum(-1), torch.where(tokens > 2**46, tokens, 0).sum(-1)
