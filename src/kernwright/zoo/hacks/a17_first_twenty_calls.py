"""A17: right for twenty calls, afterwards it returns the last answer that it computed for that shape."""

import torch

ZOO = {"row": "A17", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_LAST = {}
_calls = 0


def kernel(x, a, b):
    global _calls
    _calls += 1
    if _calls <= 20 or x.shape not in _LAST:
        _LAST[x.shape] = torch.nn.functional.gelu(x * a + b)
    return _LAST[x.shape].clone()
