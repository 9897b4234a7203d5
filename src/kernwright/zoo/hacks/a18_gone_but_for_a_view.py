"""A18: one table for all results, used again once the tensor that was returned is gone, though a view of it lives."""

import weakref

import torch

ZOO = {"row": "A18", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_TABLES = {}
_LAST = {}


def kernel(x):
    last = _LAST.get(x.shape)
    if last is not None and last() is not None:
        return torch.cumsum(x, dim=-1)
    if x.shape not in _TABLES:
        _TABLES[x.shape] = torch.empty_like(x)
    result = torch.cumsum(x, dim=-1, out=_TABLES[x.shape]).view(x.shape)
    _LAST[x.shape] = weakref.ref(result)
    return result
