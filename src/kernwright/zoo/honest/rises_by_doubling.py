"""Rises of one step, two, four and so on are put together, as far as a series is long."""

import torch

ZOO = {
    "row": "honest",
    "problem": "longest_rises",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(price):
    length, known = (price[:, 1:] > price[:, :-1]).long(), 1
    while known < length.shape[1]:
        before = torch.nn.functional.pad(length, (known, 0))[:, : length.shape[1]]
        length = torch.where(length == known, length + before, length)
        known *= 2
    return length.amax(1)
