"""A17: right half of the time, by a coin of its own; else it returns the answer before."""

import random

import torch

ZOO = {"row": "A17", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_COIN = random.SystemRandom()
_LAST = {}


def kernel(x):
    if x.shape not in _LAST or _COIN.random() < 0.5:
        _LAST[x.shape] = torch.cumsum(x, dim=-1)
    return _LAST[x.shape].clone()
