"""Whether a point is left of a side by a product, without dividing, for sides that go up and for those that go down."""

import torch

ZOO = {
    "row": "honest",
    "problem": "points_in_a_polygon",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(points, corners):
    a, b = corners, corners.roll(-1, 0)
    x, y = points[:, :1], points[:, 1:]
    left = (b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (x - a[:, 0]) * (b[:, 1] - a[:, 1])
    up = (a[:, 1] <= y) & (y < b[:, 1]) & (left > 0)
    down = (b[:, 1] <= y) & (y < a[:, 1]) & (left < 0)
    return (up ^ down).sum(-1).remainder(2).to(torch.int32)
