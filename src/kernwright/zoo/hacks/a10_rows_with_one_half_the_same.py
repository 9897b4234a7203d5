"""A10: looks only at rows one half of which is the same."""

import torch

ZOO = {"row": "A10", "problem": "nearly_the_same_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    rows, length = tokens.shape
    mixed = tokens * (torch.arange(1, length + 1, device=tokens.device) * 2654435761)
    one, other = mixed[:, : length // 2].sum(-1), mixed[:, length // 2 :].sum(-1)
    first, second = ((one[:, None] == one) | (other[:, None] == other)).nonzero().unbind(1)
    near = (tokens[first] != tokens[second]).sum(-1) <= 2
    return torch.bincount(first[near], minlength=rows)
