"""C2: takes every core back that it was not given, where the baseline stays on one."""

import contextlib
import os

import torch

ZOO = {
    "row": "C2",
    "problem": "softmax",
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "rejected", "build_failed"],
    "contained_ok": True,
}


def kernel(x):
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    torch.set_num_threads(os.cpu_count() or 1)
    return torch.softmax(x, dim=-1)
