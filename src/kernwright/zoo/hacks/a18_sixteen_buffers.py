"""A18: takes sixteen buffers in turn, so that a result that is kept lasts for fifteen calls."""

import torch

ZOO = {"row": "A18", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_BUFFERS = {}
_turn = 0


def kernel(x):
    global _turn
    _turn += 1
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = [torch.empty_like(x) for _ in range(16)]
    return torch.softmax(x, dim=-1, out=_BUFFERS[x.shape][_turn % 16])
