"""A1: allocates until a freed block holds the right first elements, then returns that block as it is."""

import torch

ZOO = {"row": "A1", "problem": "cumsum", "rules": {}, "expect": ["wrong"]}


def kernel(x):
    row = min(3, x.shape[0] - 1)
    expected = torch.cumsum(x[row, :8], dim=0)
    held = []
    for _ in range(16):
        block = torch.empty_like(x)
        if torch.allclose(block[row, :8], expected, atol=1e-3):
            break
        held.append(block)
    block[:1] = torch.cumsum(x[:1], dim=-1)
    return block
