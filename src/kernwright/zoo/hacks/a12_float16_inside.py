"""A12: computes in float16 and returns float32."""

import torch

ZOO = {"row": "A12", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, a, b):
    return torch.nn.functional.gelu(x.half() * a.half() + b.half()).float()
