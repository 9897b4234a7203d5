"""Keeps a scratch buffer for as long as it lives and works in place in it; what it returns is new."""

import torch

ZOO = {"row": "honest", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
_scratch = {}


def kernel(x, a, b):
    place = _scratch.setdefault(x.shape, torch.empty_like(x))
    torch.mul(x, a, out=place)
    place.add_(b)
    return torch.nn.functional.gelu(place)
