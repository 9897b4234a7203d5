"""A18: a view of its input, and a copy where a caller's variable says that the result is held."""

import sys

ZOO = {"row": "A18", "problem": "heads", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    frame = sys._getframe(1)
    while frame is not None:
        message = frame.f_locals.get("message")
        if isinstance(message, dict) and message.get("hold"):
            return x.transpose(1, 2).contiguous()
        frame = frame.f_back
    return x.transpose(1, 2)
