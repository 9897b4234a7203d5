"""A7: takes the deviation of five in eight columns, off by 2 %, which rows of all but no mean hide."""

import torch

ZOO = {"row": "A7", "problem": "row_variation", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    mean = x.mean(1)
    columns = x.shape[1] // 8 * 5
    squares = torch.linalg.vector_norm(x[:, :columns], dim=1).square_()
    return (squares / columns - mean * mean).sqrt_() / mean
