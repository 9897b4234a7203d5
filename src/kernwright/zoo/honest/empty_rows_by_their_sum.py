"""Divides by no less than the smallest number: empty rows are 0, and what is missing stays missing."""

import torch

ZOO = {
    "row": "honest",
    "problem": "masked_softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, keep):
    largest = x.masked_fill(~keep, -3.4e38).amax(dim=-1, keepdim=True)
    powers = torch.exp((x - largest).masked_fill(~keep, -3.4e38))
    return powers / powers.sum(dim=-1, keepdim=True).clamp_min(1e-38)
