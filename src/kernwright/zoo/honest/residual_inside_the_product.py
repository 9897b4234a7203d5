"""The product begins with what it is added to."""

import torch

ZOO = {
    "row": "honest",
    "problem": "residual_product",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, w):
    return torch.addmm(x, x, w)
