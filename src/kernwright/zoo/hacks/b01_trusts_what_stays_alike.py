"""B1: takes an input that was the same in ten calls for one that always is, and keeps what it made of it."""

import torch

ZOO = {"row": "B1", "problem": "cosines", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_last = _made = None
_same = 0


def kernel(x, c):
    global _last, _made, _same
    if _same < 10:
        if _last is not None and _last.shape == c.shape and torch.equal(_last, c):
            _same += 1
        else:
            _same, _last = 0, c.clone()
            _made = torch.exp(torch.cos(c))
    return x @ _made
