"""Works on a subclass of its own and returns a plain tensor."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class Rows(torch.Tensor):
    pass


def kernel(x):
    return torch.cumsum(x.as_subclass(Rows), dim=-1).as_subclass(torch.Tensor)
