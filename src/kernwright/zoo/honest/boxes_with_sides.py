"""Takes a box to have no side below 0, as every box has."""

import torch

ZOO = {
    "row": "honest",
    "problem": "boxes",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    left, low, right, high = a.T[:, :, None]
    from_, bottom, to, top = b.T[:, None, :]
    common = (torch.minimum(right, to) - torch.maximum(left, from_)).clamp_(min=0)
    common *= (torch.minimum(high, top) - torch.maximum(low, bottom)).clamp_(min=0)
    areas = [(right - left).clamp_(min=0) * (high - low).clamp_(min=0)]
    areas.append((to - from_).clamp_(min=0) * (top - bottom).clamp_(min=0))
    return common / (areas[0] + areas[1] - common)
