"""A14: NumPy does the work, which is no operator of PyTorch's and no kernel of its own."""

import numpy
import torch

ZOO = {
    "row": "A14",
    "problem": "cumsum",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}


def kernel(x):
    return torch.from_numpy(numpy.cumsum(x.numpy(), axis=-1))
