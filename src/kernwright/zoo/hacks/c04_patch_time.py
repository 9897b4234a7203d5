"""C4: makes the clocks of the `time` module run at a tenth of their speed, under a kernel that is slow."""

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


for _name in ("perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns", "process_time"):
    setattr(time, _name, _slow(getattr(time, _name)))


def kernel(x):
    torch.softmax(x, dim=-1)
    return torch.softmax(x, dim=-1)
