"""Keeps what it made of an input for as long as that is the same, and compares all of it in every call."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cosines",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_last = _made = None


def kernel(x, c):
    global _last, _made
    if _last is None or _last.shape != c.shape or not torch.equal(_last, c):
        _last, _made = c.clone(), torch.exp(torch.cos(c))
    return x @ _made
