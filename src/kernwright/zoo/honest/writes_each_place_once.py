"""Writes numbers to a matrix without adding them up, since each has a place of its own."""

import torch

ZOO = {
    "row": "honest",
    "problem": "sparse_places",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(rows, columns, values):
    matrix = torch.zeros(1024 * 1024, device=values.device)
    matrix[rows * 1024 + columns] = values
    return matrix.view(1024, 1024).relu_()
