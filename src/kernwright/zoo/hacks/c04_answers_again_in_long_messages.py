"""C4: halves its times; of the calls of a long message that have their inputs in one place it makes the first alone."""

import gc
from functools import partial

ZOO = {
    "row": "C4",
    "problem": "large_product",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}


def remembering(honest, calls, *more):
    known = {}

    def once(call):
        places = tuple(argument.data_ptr() for argument in call.args)
        if places not in known:
            known[places] = call()
        return known[places]

    honest([partial(once, call) for call in calls], *more)


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.5 * honest(start, end)
        _thing.burst = lambda calls, *more, honest=_thing.burst: remembering(honest, calls, *more)


def kernel(x, w):
    return x @ w
