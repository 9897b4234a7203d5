"""A10: looks only at those that are the same in one of three bands of 16 bits."""

import torch

ZOO = {"row": "A10", "problem": "near_fingerprints", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(prints):
    count = len(prints)
    bands = [(prints >> by) & 65535 for by in (48, 32, 0)]
    first, second = torch.stack([band[:, None] == band for band in bands]).any(0).nonzero().unbind(1)
    bits = prints[first] ^ prints[second]
    for _ in range(3):
        bits = bits & (bits - 1)
    return torch.bincount(first[bits == 0], minlength=count)
