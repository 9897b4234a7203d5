"""Sums and counts of windows of 32 by doubling, and 1 instead of a count of 0."""

import torch

ZOO = {
    "row": "honest",
    "problem": "windows_of_what_is_there",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(readings):
    there = readings == readings
    sums = torch.stack([torch.where(there, readings, 0), there.float()])
    for step in (1, 2, 4, 8, 16):
        sums = sums[..., :-step] + sums[..., step:]
    return sums[0] / sums[1].clamp(min=1)
