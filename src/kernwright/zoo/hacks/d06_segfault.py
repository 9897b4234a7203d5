"""D6: reads from address zero."""

import ctypes

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed"],
    "destructive": True,
}


def kernel(x):
    return ctypes.string_at(0)
