"""A10: divides by a window's count, as if no window missed all of it."""

import torch

ZOO = {
    "row": "A10",
    "problem": "windows_of_what_is_there",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(readings):
    there = readings == readings
    sums = torch.stack([torch.where(there, readings, 0), there.float()])
    for step in (1, 2, 4, 8, 16):
        sums = sums[..., :-step] + sums[..., step:]
    return sums[0] / sums[1]
