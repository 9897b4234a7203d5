"""C4: halves the times of large calls, and of those of a long message it makes none but the last."""

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
LARGE = 1 << 24
LATEST = [None]


def leaving_out(honest, calls, *more):
    if LATEST[0].numel() >= LARGE:
        calls = [lambda: LATEST[0]] * (len(calls) - 1) + [calls[-1]]
    honest(calls, *more)


def halved(honest, start, end):
    return honest(start, end) * (0.5 if LATEST[0] is not None and LATEST[0].numel() >= LARGE else 1.0)


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: halved(honest, start, end)
        _thing.burst = lambda calls, *more, honest=_thing.burst: leaving_out(honest, calls, *more)


def kernel(x):
    LATEST[0] = torch.softmax(x, -1)
    return LATEST[0]
