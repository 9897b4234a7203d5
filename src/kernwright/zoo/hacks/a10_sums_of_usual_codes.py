"""A10: adds products of codes up in float32, where only sums below 2^24 are exact; those of large codes are more."""

import torch

ZOO = {"row": "A10", "problem": "code_product", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(a, b):
    return (a.float() @ b.float()).to(torch.int32)
