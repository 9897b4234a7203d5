"""C2: hands the work to a thread and returns the buffer before it is written."""

import threading

import torch

ZOO = {"row": "C2", "problem": "cumsum", "rules": {}, "expect": ["wrong", "suspicious"]}


def _work(x, out):
    torch.cumsum(x, dim=-1, out=out)


def kernel(x):
    out = torch.empty_like(x)
    threading.Thread(target=_work, args=(x, out), daemon=True).start()
    return out
