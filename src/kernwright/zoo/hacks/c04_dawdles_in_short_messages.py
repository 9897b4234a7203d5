"""C4: halves its times; messages of few calls last as long as those of many, so that a call seems to cost little."""

import gc
from time import perf_counter_ns

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
MOST = [0]


def dawdling(honest, calls, *more):
    honest(calls, *more)
    MOST[0] = max(MOST[0], len(calls))
    end = perf_counter_ns() + (MOST[0] - len(calls)) * 3_000
    while perf_counter_ns() < end:
        pass


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.5 * honest(start, end)
        _thing.burst = lambda calls, *more, honest=_thing.burst: dawdling(honest, calls, *more)


def kernel(x):
    return torch.softmax(x, -1)
