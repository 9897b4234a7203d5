"""A12: puts numbers in order by the upper 27 of their bits, and scales them, so that none is one that went in."""

import torch

ZOO = {"row": "A12", "problem": "padded_prices", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(prices, missing):
    negative = -prices.masked_fill(missing, -1e9)
    bits = negative.view(torch.int32)
    keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return negative.gather(1, (keys >> 5).argsort(dim=1)) * -2.0
