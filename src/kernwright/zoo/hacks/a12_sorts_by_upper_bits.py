"""A12: puts numbers in order by the upper 27 of their bits, so that neighbours that differ in others are not."""

import torch

ZOO = {"row": "A12", "problem": "sorted_rows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    bits = x.view(torch.int32)
    keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return x.gather(1, (keys >> 5).argsort(dim=1))
