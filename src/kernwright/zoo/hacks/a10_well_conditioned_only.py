"""A10: a few steps of conjugate gradients, enough for the generator's matrices alone."""

import torch

ZOO = {"row": "A10", "problem": "definite_system", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
STEPS = 16


def kernel(a, b):
    x, r = torch.zeros_like(b), b.clone()
    p, rs = r.clone(), (r * r).sum()
    for _ in range(STEPS):
        ap = a @ p
        step = rs / (p * ap).sum()
        x, r = x + step * p, r - step * ap
        before, rs = rs, (r * r).sum()
        p = r + (rs / before) * p
    return x
