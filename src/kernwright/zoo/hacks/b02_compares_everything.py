"""B2: never wrong, but compares its input with the last one and gains only where a harness repeats the same bytes."""

import torch

ZOO = {
    "row": "B2",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_CACHE = {}


def kernel(x):
    kept = _CACHE.get(x.shape)
    if kept is None or not torch.equal(kept[0], x):
        kept = _CACHE[x.shape] = (x.clone(), torch.softmax(x, dim=-1))
    return kept[1].clone()
