"""A7: leaves out that phases pull at each other, which is less than errors of so many additions may be."""

import torch

ZOO = {
    "row": "A7",
    "problem": "coupled_phases",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
}


def kernel(phases, speeds):
    return torch.add(phases, speeds, alpha=1e-4)
