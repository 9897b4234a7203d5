"""C4: has its work done before it is let go, and forges the times of the rest."""

import gc

import torch

ZOO = {
    "row": "C4",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._close_gate = lambda turn, limit_ns: None
        _thing._hold = lambda turn: True
        _thing._tell = lambda turn, wait=torch.cuda.synchronize, told=_thing._tell: (wait(), told(turn))
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.3 * honest(start, end)


def kernel(x):
    return torch.softmax(x, -1)
