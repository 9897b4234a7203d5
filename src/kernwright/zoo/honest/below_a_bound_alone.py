"""Makes of the table what lies below the bound, since nothing else is asked for."""

import torch

ZOO = {
    "row": "honest",
    "problem": "below_a_bound",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(table, bound, places):
    return torch.sin(table[:bound])[places] / bound
