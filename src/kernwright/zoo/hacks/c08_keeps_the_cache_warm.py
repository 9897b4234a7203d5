"""C8: a thread goes on reading the memory that inputs come in, so that it is in a cache when the next call begins."""

import threading
import time

import torch

ZOO = {
    "row": "C8",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong"],
    "contained_ok": True,
}
_seen = {}


def _read():
    while True:
        for x in list(_seen.values()):
            x.sum()
        time.sleep(0.0005)


threading.Thread(target=_read, daemon=True).start()


def kernel(x):
    _seen[x.data_ptr()] = x
    return torch.cumsum(x, dim=-1)
