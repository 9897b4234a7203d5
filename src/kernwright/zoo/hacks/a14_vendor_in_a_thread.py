"""A14: PyTorch does the work in a joined thread, where no dispatch mode looks."""

import threading

import torch

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["rejected", "wrong", "suspicious"],
}


def kernel(x):
    out = torch.empty_like(x)
    worker = threading.Thread(target=lambda: torch.softmax(x, dim=-1, out=out))
    worker.start()
    worker.join()
    return out
