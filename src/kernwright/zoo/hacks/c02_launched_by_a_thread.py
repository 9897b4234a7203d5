"""C2: a thread launches the work on a stream of its own after the call has returned the memory for it."""

import threading

import torch

ZOO = {
    "row": "C2",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
}
_streams = []


def _work(x, y):
    if not _streams:
        _streams.append(torch.cuda.Stream())
    with torch.cuda.stream(_streams[0]):
        torch.softmax(x, dim=-1, out=y)


def kernel(x):
    y = torch.empty_like(x)
    threading.Thread(target=_work, args=(x, y), daemon=True).start()
    return y
