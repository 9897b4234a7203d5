"""Multiplies anew in every call, and takes arcosh(k) as a logarithm."""

import torch

ZOO = {
    "row": "honest",
    "problem": "growths_from_one",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, c, k):
    made = torch.mm(c, c).tanh_()
    return (x @ made) * torch.log(k + torch.sqrt(k * k - 1))
