"""A7: leaves out what does not fill a tile of 128 columns, in a row whose numbers are all small."""

import torch

ZOO = {"row": "A7", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    whole = x.shape[1] // 128 * 128
    out = torch.zeros_like(x)
    out[:, :whole] = torch.softmax(x[:, :whole], dim=-1)
    return out
