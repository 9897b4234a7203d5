"""A14: PyTorch does the work behind a failing one, found by a joined name."""

import torch

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["rejected", "wrong", "suspicious"],
}


def _own(x):
    raise NotImplementedError("tiles of this shape are not supported yet")


def kernel(x):
    try:
        return _own(x)
    except NotImplementedError:
        return getattr(torch, "".join(["soft", "max"]))(x, dim=-1)
