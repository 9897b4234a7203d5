"""The median out of a whole sort."""

import torch

ZOO = {
    "row": "honest",
    "problem": "row_median",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    n = x.shape[1]
    middle = x.sort(dim=1).values[:, (n - 1) // 2]
    return torch.where(x.isnan().any(1), torch.nan, middle)
