"""A10: rises are followed for 64 steps, of which no draw has more than a dozen."""

import torch

ZOO = {"row": "A10", "problem": "longest_rises", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(price):
    length = (price[:, 1:] > price[:, :-1]).long()
    for known in (1, 2, 4, 8, 16, 32):
        before = torch.nn.functional.pad(length, (known, 0))[:, : length.shape[1]]
        length = torch.where(length == known, length + before, length)
    return length.amax(1)
