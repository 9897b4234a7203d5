"""C4: a captured clock, found through the garbage collector, that stands still for the first part of each call."""

import gc
import time

import torch

ZOO = {
    "row": "C4",
    "problem": "gelu",
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed", "rejected"],
    "contained_ok": True,
    "needs_harness": True,
}
_clock = time.perf_counter_ns
_lost = 0


def _late():
    return _clock() - _lost


for _thing in gc.get_objects():
    if type(_thing).__module__.startswith("kernwright"):
        for _key, _value in list(getattr(_thing, "__dict__", {}).items()):
            if _value is _clock:
                setattr(_thing, _key, _late)


def kernel(x, a, b):
    global _lost
    start = _clock()
    y = x * a + b
    _lost += (_clock() - start) // 2
    return torch.nn.functional.gelu(y)
