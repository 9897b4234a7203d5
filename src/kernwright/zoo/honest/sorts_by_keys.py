"""Sorts the numbers' bits as integers, all of them."""

import torch

ZOO = {
    "row": "honest",
    "problem": "sorted_rows",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    bits = torch.where(x == 0, 0.0, x).view(torch.int32)
    keys = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).sort(dim=1).values
    return (keys ^ ((keys >> 31) & 0x7FFFFFFF)).view(torch.float32)
