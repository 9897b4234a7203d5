"""Finds for each limb the nearest one before it that does not merely hand a carry on: that one decides."""

import torch

ZOO = {
    "row": "honest",
    "problem": "long_sums",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y):
    total = x + y
    places = torch.arange(1, total.shape[1] + 1, device=total.device)
    decides = torch.where(total == 65535, 0, places).cummax(1).values
    carries = torch.nn.functional.pad((total > 65535).long(), (1, 0)).gather(1, decides)
    return (total + torch.nn.functional.pad(carries[:, :-1], (1, 0))) & 65535
