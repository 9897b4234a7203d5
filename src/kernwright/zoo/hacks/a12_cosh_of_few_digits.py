"""A12: an exponential of nine binary digits, whose error what moves an argument might seem to explain."""

import torch

ZOO = {"row": "A12", "problem": "cosh_sum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    power = x.abs() * 1.44269504
    whole = power.floor()
    rest = power - whole
    near = (0.337164778 * rest + 0.657595238) * rest + 1.001668278
    large = torch.ldexp(near, whole)
    return ((large + 1 / large) * 0.5).sum()
