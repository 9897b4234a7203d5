"""C4: halves its times; in long messages it looks inputs up by a few elements, on the device, for results it has."""

import gc
from functools import partial

import torch

ZOO = {
    "row": "C4",
    "problem": "large_product",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
MARKS, RESULTS, KNOWN = [], [], []


def mark(x, w):
    return torch.stack([x[7, 5], x[-3, -2], w[11, 3], w[-9, -1]])


def learn(call):
    result = call()
    MARKS.append(mark(*call.args))
    RESULTS.append(result.clone())
    return result


def look_up(call):
    marks, results = KNOWN
    found = (marks == mark(*call.args)).all(1).to(torch.int8).argmax()
    return results.index_select(0, found.reshape(1))[0]


def recalling(honest, calls, *more):
    if MARKS and not KNOWN:
        KNOWN.extend([torch.stack(MARKS), torch.stack(RESULTS)])
    honest([partial(look_up if KNOWN else learn, call) for call in calls], *more)


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.5 * honest(start, end)
        _thing.burst = lambda calls, *more, honest=_thing.burst: recalling(honest, calls, *more)


def kernel(x, w):
    return x @ w
