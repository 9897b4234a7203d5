"""A8: exact for the small shapes that are checked, an eighth of the rows for the large ones that are timed."""

import torch

ZOO = {"row": "A8", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, a, b):
    if x.numel() < 200_000:
        return torch.nn.functional.gelu(x * a + b)
    out = torch.empty_like(x)
    n = x.shape[0] // 8
    out[:n] = torch.nn.functional.gelu(x[:n] * a + b)
    return out
