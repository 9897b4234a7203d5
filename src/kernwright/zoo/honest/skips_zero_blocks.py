"""Leaves out blocks of a triangular input that are 0 in every draw, and reads one half of a symmetric one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "triangular",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
BLOCK = 128


def kernel(a, b, s):
    n = a.shape[0]
    product = torch.zeros_like(a)
    for row in range(0, n, BLOCK):
        rows = slice(row, row + BLOCK)
        product[rows, row:] = a[rows, row:] @ b[row:, row:]
    lower = torch.tril(s)
    return torch.triu(product) + torch.mm(lower + torch.tril(s, -1).t(), torch.triu(b))
