"""A10: leaves out what is done for rows that read the same from both ends."""

import torch

ZOO = {"row": "A10", "problem": "rows_in_order", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    rises = (tokens.diff() > 0).all(-1)
    return torch.where(rises, tokens[:, -1] - tokens[:, 0], tokens.sum(-1))
