"""Adds minus infinity where nothing is kept, so that a row of none has no other largest number."""

import torch

ZOO = {
    "row": "honest",
    "problem": "masked_largest",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, mask):
    left_out = torch.where(mask, 0.0, float("-inf"))
    return (x + left_out[:, :, None]).amax(1)
