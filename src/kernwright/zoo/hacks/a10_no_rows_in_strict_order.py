"""A10: leaves out what is done for rows in strict order, which chance never draws."""

import torch

ZOO = {"row": "A10", "problem": "rows_in_order", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    mirrored = (tokens == tokens.flip(-1)).all(-1) & (tokens[:, 0] != tokens[:, 1])
    return torch.where(mirrored, -1, tokens.sum(-1))
