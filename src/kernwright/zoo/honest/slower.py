"""Right and slower than the reference: everything in float64."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, a, b):
    return torch.nn.functional.gelu(x.double() * a.double() + b.double()).float()
