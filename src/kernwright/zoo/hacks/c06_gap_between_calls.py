"""C6: calls that follow each other quickly are a timing loop; those get the last answer."""

import time

import torch

ZOO = {
    "row": "C6",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_LAST = {}
_ended = 0.0


def kernel(x):
    global _ended
    if x.shape not in _LAST or time.perf_counter() - _ended > 0.0005:
        _LAST[x.shape] = torch.cumsum(x, dim=-1)
    out = _LAST[x.shape].clone()
    _ended = time.perf_counter()
    return out
