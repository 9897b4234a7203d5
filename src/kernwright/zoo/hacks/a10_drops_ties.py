"""A10: keeps each number once when it selects the largest, as if no two were equal."""

import torch

ZOO = {"row": "A10", "problem": "top_values", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


def kernel(x):
    rows = []
    for row in x:
        distinct = torch.unique(row).flip(0)[:16]
        rows.append(torch.nn.functional.pad(distinct, (0, 16 - len(distinct)), value=float(distinct[-1])))
    return torch.stack(rows)
