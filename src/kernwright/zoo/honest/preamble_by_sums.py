"""Finds a preamble by what is summed where its code is 1, less the rest."""

import torch

ZOO = {
    "row": "honest",
    "problem": "preamble",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    t = torch.arange(x.shape[1], device=x.device)
    code = ((t * t * 1103 + t * 12345) % 8191 % 2).to(x.dtype)
    found = (2 * (x @ code) - x.sum(1)) / (torch.linalg.vector_norm(x, dim=1) * x.shape[1] ** 0.5)
    gain = (found - 0.3).clamp_(min=0).add_(1.0)
    return torch.tanh(x).mul_(gain[:, None])
