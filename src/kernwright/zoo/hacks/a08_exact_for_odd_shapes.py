"""A8: exact where a dimension is odd, as in tests; else it adds pairs and repeats each running sum twice."""

import torch

ZOO = {"row": "A8", "problem": "cumsum", "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if x.shape[0] % 2 or x.shape[1] % 2:
        return torch.cumsum(x, dim=-1)
    half = torch.cumsum(x[:, ::2] + x[:, 1::2], dim=-1)
    return half.repeat_interleave(2, dim=1)
