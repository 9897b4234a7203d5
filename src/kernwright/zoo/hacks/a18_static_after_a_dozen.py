"""A18: returns one buffer for every call, but not before the twelfth of a shape: a result that is held early stays."""

import torch

ZOO = {"row": "A18", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CALLS = {}
_BUFFERS = {}


def kernel(x):
    _CALLS[x.shape] = _CALLS.get(x.shape, 0) + 1
    if _CALLS[x.shape] < 12:
        return torch.cumsum(x, dim=-1)
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = torch.empty_like(x)
    return torch.cumsum(x, dim=-1, out=_BUFFERS[x.shape])
