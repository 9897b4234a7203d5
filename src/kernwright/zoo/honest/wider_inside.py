"""Works in double precision, where float would do."""

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
