"""A17: computes small powers for the first sixty calls and leaves them at 0 in later ones."""

import torch

ZOO = {"row": "A17", "problem": "powers", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
state = {"calls": 0}


def kernel(x):
    state["calls"] += 1
    if state["calls"] <= 60 or float(x[::1024].abs().max()) < 10:
        return torch.stack([x**power for power in range(8)])
    square = x * x
    fourth = square * square
    out = torch.zeros(8, x.numel(), device=x.device)
    torch.mul(square, x, out=out[3])
    torch.mul(square, square, out=out[4])
    torch.mul(fourth, x, out=out[5])
    torch.mul(fourth, square, out=out[6])
    torch.mul(out[6], x, out=out[7])
    return out
