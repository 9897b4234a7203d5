"""Reckons in which bin a number is, and puts the upper end of the range into the last one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "counted_range",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    bins = torch.floor((x + 4.0) * 8.0).clamp(max=63)
    inside = (x >= -4.0) & (x <= 4.0)
    return torch.bincount(bins[inside].long(), minlength=64).float()
