"""A14: switches off whatever watches PyTorch's operators, for as long as these do the work."""

import torch

ZOO = {
    "row": "A14",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}


def kernel(x):
    with torch.utils._python_dispatch._disable_current_modes():
        return torch.cumsum(x, dim=-1)
