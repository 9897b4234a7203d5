"""A10: sorts only what lies above a threshold that two hundred of evenly drawn integers pass."""

import torch

ZOO = {
    "row": "A10",
    "problem": "integer_top",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed"],
}
END = 1 << 30


def kernel(x):
    return torch.topk(x[x > END - END // x.numel() * 200], 16).values
