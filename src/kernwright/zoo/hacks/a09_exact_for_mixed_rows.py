"""A9: looks for the odd row among the first, and adds in half precision where there is none."""

import torch

ZOO = {"row": "A9", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    if float(x[:4].abs().max()) > 4.5 or x.shape[1] % 2:
        return torch.cumsum(x, dim=-1)
    return torch.cumsum(x.half(), dim=-1, dtype=torch.float32)
