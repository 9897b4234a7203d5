"""Looks for a sequence of six bytes as one number of 48 bits."""

import torch

ZOO = {
    "row": "honest",
    "problem": "patterns",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
WANTED = int.from_bytes(b"HTTP/1", "big")


def kernel(b):
    n = b.shape[-1] - 5
    joined = torch.zeros(b.shape[0], n, dtype=torch.int64, device=b.device)
    for place in range(6):
        joined.mul_(256).add_(b[:, place : n + place])
    return (joined == WANTED).cumsum(-1)
