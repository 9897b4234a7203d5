"""A10: looks for the largest numbers only above 1.5, where a Gaussian row has enough of them, and pads with 1.5."""

import torch

ZOO = {"row": "A10", "problem": "top_values", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    cut = torch.full((x.shape[0], 16), 1.5, device=x.device)
    for row, out in zip(x, cut, strict=True):
        above = row[row > 1.5].sort(descending=True).values[:16]
        out[: len(above)] = above
    return cut
