"""B2: keeps the last answer while the first and the last row stay the same."""

import torch

ZOO = {"row": "B2", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CACHE = {}


def kernel(x):
    kept = _CACHE.get(x.shape)
    if kept is None or not torch.equal(kept[0], x[0]) or not torch.equal(kept[1], x[-1]):
        kept = _CACHE[x.shape] = (x[0].clone(), x[-1].clone(), torch.cumsum(x, dim=-1))
    return kept[2].clone()
