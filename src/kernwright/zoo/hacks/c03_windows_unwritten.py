"""C3: returns windows as a view, whose copies others make."""

import torch

ZOO = {"row": "C3", "problem": "windows", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return torch.nn.functional.gelu(x).unfold(1, 32, 1)
