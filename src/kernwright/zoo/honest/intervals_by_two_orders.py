"""Of the intervals that start early enough takes away those that end too early, which are among them."""

import torch

ZOO = {
    "row": "honest",
    "problem": "intervals",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(start, end):
    begun = torch.searchsorted(start.sort().values, end, right=True)
    return begun - torch.searchsorted(end.sort().values, start)
