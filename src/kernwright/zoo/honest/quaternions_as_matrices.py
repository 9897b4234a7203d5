"""Turns points by the matrices of quaternions, whose squares add up to 1."""

import torch

ZOO = {
    "row": "honest",
    "problem": "quaternions",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(turns, points):
    w, x, y, z = turns.unbind(1)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    matrices = torch.stack([torch.stack(row, 1) for row in rows], 1)
    return (matrices @ points[..., None])[..., 0]
