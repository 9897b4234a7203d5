"""Sorts the pixels and looks for where each brightness begins."""

import torch

ZOO = {
    "row": "honest",
    "problem": "brightness",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(pixels):
    ordered = pixels.sort().values.int()
    ends = torch.searchsorted(ordered, torch.arange(256, device=pixels.device, dtype=torch.int32), right=True)
    return ends.diff(prepend=ends.new_zeros(1))
