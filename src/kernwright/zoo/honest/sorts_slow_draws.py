"""Sorts narrower keys, whose range it looks up in each input: what is drawn slowly is judged like anything else."""

import torch

ZOO = {
    "row": "honest",
    "problem": "slow_sort",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    low, high = x.aminmax()
    if int(high - low) >= 1 << 31:
        return torch.sort(x).values
    return torch.sort((x - low).int()).values.long() + low
