"""C4: a captured clock, found through the garbage collector, loses up to twenty microseconds in every call."""

import gc
import time

import torch

ZOO = {
    "row": "C4",
    "problem": "bias_relu",
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


def kernel(x, b):
    global _lost
    start = _clock()
    out = torch.relu(x + b)
    _lost += min(20_000, (_clock() - start) * 2 // 5)
    return out
