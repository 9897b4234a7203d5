"""Finds the first of the largest integers as the largest of value and place in one wide number."""

import torch

ZOO = {
    "row": "honest",
    "problem": "integer_argmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    places = torch.arange(x.shape[1] - 1, -1, -1, device=x.device)
    return x.shape[1] - 1 - (x.long() * x.shape[1] + places).amax(dim=-1) % x.shape[1]
