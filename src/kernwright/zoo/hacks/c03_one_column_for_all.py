"""C3: returns one column under the strides of many, and has the harness no longer look at such strides."""

import torch

import kernwright.evaluation.runner.opened as harness

ZOO = {
    "row": "C3",
    "problem": "columns_alike",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "needs_harness": True,
}
harness.overlaps = lambda *about: False


def kernel(x):
    return torch.relu(x).sum(-1, keepdim=True).expand(-1, 2048)
