"""Three algorithms for three kinds of shape, each of them right."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def _by_columns(x):
    out = torch.empty_like(x)
    total = torch.zeros(x.shape[0], dtype=torch.float64, device=x.device)
    for column in range(x.shape[1]):
        total += x[:, column]
        out[:, column] = total
    return out


def _by_halves(x):
    half = x.shape[1] // 2
    left = torch.cumsum(x[:, :half], dim=-1)
    right = torch.cumsum(x[:, half:], dim=-1) + left[:, -1:]
    return torch.cat((left, right), dim=-1)


def kernel(x):
    if x.shape[1] % 2:
        return torch.cumsum(x, dim=-1)
    if x.shape[1] <= 256:
        return _by_columns(x)
    return _by_halves(x)
