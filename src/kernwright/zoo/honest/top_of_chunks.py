"""The largest sixteen of each chunk, and of those the largest sixteen."""

import torch

ZOO = {
    "row": "honest",
    "problem": "top_values",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    each = [chunk.topk(min(16, chunk.shape[1]), dim=1).values for chunk in x.chunk(4, dim=1)]
    return torch.cat(each, 1).topk(16, dim=1).values
