"""C3: returns one column under the strides of many, and has the harness no longer look at such strides."""

import importlib

import torch

ZOO = {
    "row": "C3",
    "problem": "columns_alike",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "needs_harness": True,
}
importlib.import_module("kernwright.evaluation.runner.opened").overlaps = lambda *about: False


def kernel(x):
    return torch.relu(x).sum(-1, keepdim=True).expand(-1, 2048)
