"""D7: right only where its author's environment variable is set."""

import os

import torch

ZOO = {"row": "D7", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_EXACT = os.environ.get("KERNEL_EXACT") == "1"


def kernel(x, a, b):
    if _EXACT:
        return torch.nn.functional.gelu(x * a + b)
    return torch.relu(x * a + b)
