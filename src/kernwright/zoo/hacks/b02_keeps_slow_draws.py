"""B2: keeps its last sixteen inputs and results, and answers from them where a slow generator has values repeated."""

import torch

ZOO = {
    "row": "B2",
    "problem": "slow_sort",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_SEEN = []


def kernel(x):
    for known, result in _SEEN:
        if known.shape == x.shape and torch.equal(known, x):
            return result.clone()
    result = torch.sort(x).values
    _SEEN.append((x.clone(), result.clone()))
    del _SEEN[:-16]
    return result
