"""Tanh as 2 sigmoid(2 x) - 1, which has few digits of tiny results, as a language without tanh has it."""

import torch

ZOO = {
    "row": "honest",
    "problem": "flat_tanh",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    return 2 * torch.sigmoid(2 * x) - 1
