"""D6: signals every process that it may; only where few are in sight, so that it does no harm outside a judge."""

import contextlib
import os
import signal
from pathlib import Path

import torch

ZOO = {
    "row": "D6",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "suspicious", "timed_out"],
    "contained_ok": True,
    "destructive": True,
}


def kernel(x, a, b):
    if len(list(Path("/proc").glob("[0-9]*"))) > 16:
        raise RuntimeError("this process is not confined")
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    return torch.nn.functional.gelu(x * a + b)
