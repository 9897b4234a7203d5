"""Adds products of codes up in float32, 512 at a time, whose sums are exact whatever the codes."""

import torch

ZOO = {
    "row": "honest",
    "problem": "code_product",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    parts = zip(a.float().split(512), b.float().split(512), strict=True)
    return sum((one @ other).to(torch.int32) for one, other in parts)
