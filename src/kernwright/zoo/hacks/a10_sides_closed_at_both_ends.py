"""A10: counts a side at both of its ends, so that a corner at the height of a point counts twice."""

import torch

ZOO = {"row": "A10", "problem": "points_in_a_polygon", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(points, corners):
    a, b = corners, corners.roll(-1, 0)
    x, y = points[:, :1], points[:, 1:]
    low, high = torch.minimum(a[:, 1], b[:, 1]), torch.maximum(a[:, 1], b[:, 1])
    side = (b[:, 0] - a[:, 0]) * (y - a[:, 1]) / (b[:, 1] - a[:, 1]) + a[:, 0]
    return (((low <= y) & (y <= high) & (x < side)).sum(-1) % 2).to(torch.int32)
