"""The right values behind the strides of a transposed matrix."""

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, a, b):
    return torch.nn.functional.gelu(x.T.contiguous() * a[:, None] + b[:, None]).T
