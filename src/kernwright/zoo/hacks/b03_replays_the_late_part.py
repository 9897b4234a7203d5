"""B3: a recording that reads the live input, and bakes in the product with the two small ones."""

import torch

ZOO = {"row": "B3", "problem": "bias_relu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_baked = {}


def kernel(x, b):
    known = _baked.setdefault((x.shape, b.data_ptr()), b.clone())
    return torch.relu(x + known)
