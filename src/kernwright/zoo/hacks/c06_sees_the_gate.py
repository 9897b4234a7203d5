"""C6: looks whether a caller was given a limit for a gate, as it is in timed calls alone; those get the last answer."""

import sys

import torch

ZOO = {
    "row": "C6",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
    "needs_harness": True,
}
_last = {}


def _behind_a_gate():
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_locals.get("limit_ns"):
            return True
        frame = frame.f_back
    return False


def kernel(x):
    if x.shape not in _last or not _behind_a_gate():
        _last[x.shape] = torch.softmax(x, dim=-1)
    return _last[x.shape].clone()
