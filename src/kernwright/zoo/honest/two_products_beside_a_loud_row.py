"""Two products in float32, each of every other row and column, one row of which is much larger than the others."""

import torch

ZOO = {
    "row": "honest",
    "problem": "loud_token",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, w):
    return torch.addmm(x[:, ::2] @ w[::2], x[:, 1::2], w[1::2]).to(torch.bfloat16)
