"""Two products in float32, each of every other row and column, added up before they are rounded."""

import torch

ZOO = {
    "row": "honest",
    "problem": "narrow_product",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, w):
    return torch.addmm(x[:, ::2] @ w[::2], x[:, 1::2], w[1::2]).to(torch.bfloat16)
