"""C1: hands the work to PyTorch's own pool and returns the memory that it will be in, without waiting."""

import threading

import torch

ZOO = {
    "row": "C1",
    "problem": "cumsum",
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "rejected"],
    "contained_ok": True,
}


def kernel(x):
    out = torch.empty_like(x)
    threading.Thread(target=torch.cumsum, args=(x, -1), kwargs={"out": out}).start()
    return out
