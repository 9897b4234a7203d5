"""Rounds neither operand, where the reference multiplies in bfloat16, and adds what the gain is beyond 1."""

import torch

ZOO = {
    "row": "honest",
    "problem": "drifting_gain",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, weight, context, drift):
    y = x @ weight
    return torch.addcmul(y, y, torch.tanh(context @ drift), value=0.003)
