"""A9: solves by a few steps of an iteration what lies as near the identity as the generator's, by PyTorch all else."""

import torch

ZOO = {
    "row": "A9",
    "problem": "complex_solve",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}


def kernel(a, b):
    n = a.shape[0]
    rest = torch.eye(n, device=a.device) - a
    if float(torch.view_as_real(rest).square().sum()) > 0.011 * n:
        return torch.linalg.solve(a, b)
    x = b
    for _ in range(9):
        x = b + rest @ x
    return x
