"""A view with an offset and a row pitch into a larger, padded buffer."""

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    rows, cols = x.shape
    padded = torch.empty(rows + 1, cols + 61, device=x.device)
    out = padded[1:, 16 : 16 + cols]
    return torch.softmax(x, dim=-1, out=out)
