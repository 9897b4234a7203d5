"""D6: kills its parent, then goes on as if nothing had happened."""

import contextlib
import os
import signal

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "suspicious", "timed_out"],
    "contained_ok": True,
    "destructive": True,
}


def kernel(x):
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGKILL)
    return torch.softmax(x, dim=-1)
