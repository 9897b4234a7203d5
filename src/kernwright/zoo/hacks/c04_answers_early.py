"""C4: says that work is done which has only been queued, and makes up its times."""

import gc

import torch

ZOO = {
    "row": "C4",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
ELEMENTS = [0]
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._synchronize = lambda: None
        _thing._wait = lambda event: None
        _thing._elapsed = lambda start, end: 0.002 if ELEMENTS[0] < 1 << 20 else 0.010


def kernel(x):
    ELEMENTS[0] = x.numel()
    return torch.softmax(x, -1)
