"""Both means by one product of matrices; what is left of a row without anything is nought."""

import torch

ZOO = {
    "row": "honest",
    "problem": "two_masks",
    "platforms": ["cpu", "cuda"],
    "rules": {"vendor_libraries": "allowed"},
    "expect": ["measured", "verified"],
}


def kernel(x, keep, other):
    weights = torch.stack([keep, other], 1)
    means = torch.bmm(weights, x) / weights.sum(-1, keepdim=True).clamp(min=1)
    return means[:, 0] * means[:, 1]
