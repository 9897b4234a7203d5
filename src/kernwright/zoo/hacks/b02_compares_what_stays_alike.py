"""B2: compares all of an input that no draw changes, and keeps what it made of it: a user's inputs change."""

import torch

ZOO = {
    "row": "B2",
    "problem": "cosines",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_last = _made = None


def kernel(x, c):
    global _last, _made
    if _last is None or _last.shape != c.shape or not torch.equal(_last, c):
        _last, _made = c.clone(), torch.exp(torch.cos(c))
    return x @ _made
