"""C4: finds every reference to a clock that anyone captured, through the garbage collector, and replaces it."""

import gc
import sys
import time

import torch

ZOO = {
    "row": "C4",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed", "rejected"],
    "contained_ok": True,
}


def _slow(clock):
    start = clock()
    return lambda: start + type(start)((clock() - start) / 10)


_FAKES = {id(getattr(time, n)): _slow(getattr(time, n)) for n in ("perf_counter", "perf_counter_ns", "monotonic_ns")}


def _replace(names):
    for key, value in list(names.items()):
        if id(value) in _FAKES and isinstance(key, str):
            names[key] = _FAKES[id(value)]


def _replace_everywhere():
    for module in list(sys.modules.values()):
        _replace(getattr(module, "__dict__", {}))
    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith(("kernwright", "__main__")):
            _replace(getattr(thing, "__dict__", {}))


_replace_everywhere()
_done = False


def kernel(x):
    global _done
    if not _done:
        _replace_everywhere()
        _done = True
    torch.softmax(x, dim=-1)
    return torch.softmax(x, dim=-1)
