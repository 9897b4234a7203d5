"""D4: takes an eighth off the times between events, which is less than calls in a row differ from one alone."""

import gc

ZOO = {
    "row": "D4",
    "problem": "matmul",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong", "rejected"],
    "contained_ok": True,
    "needs_harness": True,
}
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.875 * honest(start, end)


def kernel(x, w):
    return x @ w
