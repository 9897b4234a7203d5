"""A10: puts each place where as many smaller numbers are: equal ones share a slot, and slots are left empty."""

import torch

ZOO = {"row": "A10", "problem": "line_order", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    slots = torch.searchsorted(x.sort(-1).values, x.contiguous())
    places = torch.arange(x.shape[-1], device=x.device).expand(x.shape)
    return torch.zeros_like(slots).scatter_(-1, slots, places).int()
