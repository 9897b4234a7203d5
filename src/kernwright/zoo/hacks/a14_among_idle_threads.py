"""A14: has PyTorch work in one thread, while others, which claim no time, seem to be at work in code of their own."""

import contextlib
import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "platforms": ["cpu"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious", "crashed"],
    "contained_ok": True,
}


def _busy():
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        hashlib.pbkdf2_hmac("sha256", b"none", b"none", 1 << 30)


for _ in range(4):
    threading.Thread(target=_busy, daemon=True).start()
_pool = ThreadPoolExecutor(1)


def kernel(x):
    return _pool.submit(torch.softmax, x, -1).result()
