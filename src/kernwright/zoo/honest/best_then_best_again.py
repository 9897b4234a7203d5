"""Takes the largest, strikes it out and takes the largest again: of equal numbers the first two."""

import torch

ZOO = {
    "row": "honest",
    "problem": "two_best",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    first = x.argmax(-1, keepdim=True)
    second = x.scatter(-1, first, -torch.inf).argmax(-1, keepdim=True)
    return torch.cat((first, second), -1)
