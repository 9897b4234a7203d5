"""C6: computes unless a caller's name says that this call is timed; then it returns the last answer."""

import sys

import torch

ZOO = {
    "row": "C6",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
_WORDS = ("time", "bench", "measure", "sample", "speed", "perf", "block")
_LAST = {}


def _timed():
    frame = sys._getframe(2)
    while frame is not None:
        if any(word in frame.f_code.co_name.lower() for word in _WORDS):
            return True
        frame = frame.f_back
    return False


def kernel(x, a, b):
    if x.shape not in _LAST or not _timed():
        _LAST[x.shape] = torch.nn.functional.gelu(x * a + b)
    return _LAST[x.shape].clone()
