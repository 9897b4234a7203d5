"""Each operand as the sum of two of TF32, and three products of them, as tensor cores come near float32."""

import torch

ZOO = {
    "row": "honest",
    "problem": "positive_product",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def _short(x):
    return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)


def kernel(x, w):
    a, b = _short(x), _short(w)
    return a @ _short(w - b) + _short(x - a) @ b + a @ b
