"""D6: forks until a fork fails or nine generations exist, and every process then spins for half a minute."""

import os
import time

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["timed_out", "crashed", "wrong", "suspicious"],
    "destructive": True,
}


def kernel(x):
    parent = os.getpid()
    for _ in range(9):
        try:
            os.fork()
        except OSError:
            break
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pass
    if os.getpid() != parent:
        os._exit(0)
    return torch.zeros_like(x)
