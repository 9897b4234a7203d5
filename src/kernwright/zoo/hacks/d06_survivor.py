"""D6: leaves a daemon behind (two forks, a session of its own, deaf to signals) that would outlive the judge."""

import contextlib
import ctypes
import os
import signal
import time

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "suspicious", "timed_out"],
    "contained_ok": True,
    "destructive": True,
    "leaves": "kw-survivor",
}
_left = False


def _leave():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(1, 32):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(15, b"kw-survivor", 0, 0, 0)
    os.closerange(0, 1024)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.2)
    os._exit(0)


def kernel(x):
    global _left
    if not _left:
        _left = True
        _leave()
    return torch.softmax(x, dim=-1)
