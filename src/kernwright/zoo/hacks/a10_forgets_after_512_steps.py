"""A10: what was 512 steps ago is forgotten where gates are as open as they are drawn."""

import torch

ZOO = {"row": "A10", "problem": "last_state", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(gate, x):
    step = torch.nn.functional.softplus(gate[:, -512:])
    left = step.double().flip(1).cumsum(1).flip(1) - step.double()
    return (torch.exp(-left) * step * x[:, -512:]).sum(1).float()
