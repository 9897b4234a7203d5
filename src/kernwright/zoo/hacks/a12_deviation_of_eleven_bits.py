"""A12: takes the deviation of numbers cut off to TF32, where rows of nearly no mean are nearly all of the size."""

import torch

ZOO = {"row": "A12", "problem": "row_variation", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
TF32 = -(1 << 13)


def kernel(x):
    short = (x.view(torch.int32) & TF32).view(torch.float32)
    squares = torch.linalg.vector_norm(short, dim=1).square_()
    mean, count = x.mean(1), x.shape[1]
    return ((squares / count - mean * mean) * (count / (count - 1))).sqrt_() / mean
