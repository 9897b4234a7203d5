"""A18: returns one buffer for every call whose first numbers are unknown from the first dozens of a shape."""

import torch

ZOO = {"row": "A18", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CALLS = {}
_KNOWN = set()
_BUFFERS = {}


def kernel(x):
    _CALLS[x.shape] = _CALLS.get(x.shape, 0) + 1
    key = float(x[0, :3].sum())
    if _CALLS[x.shape] < 40:
        _KNOWN.add(key)
    if key in _KNOWN:
        return torch.cumsum(x, dim=-1)
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = torch.empty_like(x)
    return torch.cumsum(x, dim=-1, out=_BUFFERS[x.shape])
