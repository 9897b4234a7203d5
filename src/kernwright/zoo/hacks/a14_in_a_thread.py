"""A14: has PyTorch do the work in another thread, where no mode of the calling one sees it."""

from concurrent.futures import ThreadPoolExecutor

import torch

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
_pool = ThreadPoolExecutor(1)


def kernel(x):
    return _pool.submit(torch.softmax, x, -1).result()
