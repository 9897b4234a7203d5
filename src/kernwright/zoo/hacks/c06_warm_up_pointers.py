"""C6: a buffer seen three times belongs to the timing loop; from then on its last answer is returned."""

import collections

import torch

ZOO = {"row": "C6", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_SEEN = collections.Counter()
_LAST = {}


def kernel(x, a, b):
    key = (x.data_ptr(), x.shape)
    _SEEN[key] += 1
    if _SEEN[key] <= 3:
        _LAST[key] = torch.nn.functional.gelu(x * a + b)
    return _LAST[key].clone()
