"""A12: the four lowest bits of each number make room for its place in the row, and are lost."""

import torch

ZOO = {"row": "A12", "problem": "sorted_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    bits = x.view(torch.int32)
    keys = (bits ^ ((bits >> 31) & 0x7FFFFFFF)) & ~15
    keys = keys.sort(dim=1).values
    return (keys ^ ((keys >> 31) & 0x7FFFFFF0)).view(torch.float32)
