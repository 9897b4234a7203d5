"""Finds where strings differ first, and tells all by that."""

import torch

ZOO = {
    "row": "honest",
    "problem": "strings_compared",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(one, other):
    length = one.shape[-1]
    places = torch.arange(length, device=one.device)
    common = torch.where(one != other, places, length).amin(-1)
    at = common.clamp(max=length - 1).unsqueeze(-1)
    return common == length, common, (one.gather(-1, at) < other.gather(-1, at)).squeeze(-1)
