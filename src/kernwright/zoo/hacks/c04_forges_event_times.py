"""C4: replaces the harness's way of reading events."""

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
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.3 * honest(start, end)


def kernel(x):
    return torch.softmax(x, -1)
