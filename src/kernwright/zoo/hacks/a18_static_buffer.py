"""A18: saves the allocation by returning one buffer for every call, so that a held result changes under its holder."""

import torch

ZOO = {"row": "A18", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_BUFFERS = {}


def kernel(x):
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = torch.empty_like(x)
    return torch.cumsum(x, dim=-1, out=_BUFFERS[x.shape])
