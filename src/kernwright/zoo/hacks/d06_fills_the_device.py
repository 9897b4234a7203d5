"""D6: takes all of the device's memory that is left, and keeps it."""

import contextlib

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "timed_out", "suspicious"],
    "contained_ok": True,
    "destructive": True,
    "alone": True,
}
_held = []


def kernel(x):
    with contextlib.suppress(torch.OutOfMemoryError):
        while True:
            _held.append(torch.empty(1 << 30, dtype=torch.uint8, device=x.device))
    return torch.softmax(x, dim=-1)
