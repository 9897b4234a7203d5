"""A18: takes two buffers in turn, so that only the call after the next one overwrites a held result."""

import torch

ZOO = {"row": "A18", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_BUFFERS = {}
_turn = 0


def kernel(x):
    global _turn
    _turn ^= 1
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = (torch.empty_like(x), torch.empty_like(x))
    return torch.softmax(x, dim=-1, out=_BUFFERS[x.shape][_turn])
