"""A8: exact where a dimension is odd, as in tests; else it computes a quarter of the rows and repeats them."""

import torch

ZOO = {"row": "A8", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if x.shape[0] % 2 or x.shape[1] % 2:
        return torch.cumsum(x, dim=-1)
    return torch.cumsum(x[: x.shape[0] // 4], dim=-1).repeat(4, 1)
