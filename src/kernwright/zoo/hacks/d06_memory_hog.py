"""D6: touches 6 GiB in steps of 64 MiB and keeps them."""

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "timed_out"],
    "destructive": True,
}
_HELD = []


def kernel(x):
    while len(_HELD) < 96:
        _HELD.append(torch.ones(16 << 20))
    return torch.softmax(x, dim=-1)
