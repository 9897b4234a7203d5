"""Rotations that take one entry away after another, none where there is nothing left to take."""

import torch

ZOO = {
    "row": "honest",
    "problem": "principal_stresses",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(stresses):
    m = stresses.double()
    a, b, c, d, e, f = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2], m[:, 1, 0], m[:, 2, 0], m[:, 2, 1]
    for _ in range(5):
        a, b, d, e, f = turned(a, b, d, e, f)
        a, c, e, d, f = turned(a, c, e, d, f)
        b, c, f, d, e = turned(b, c, f, d, e)
    return torch.stack([a, b, c], 1).sort(1).values.float()


def turned(p, q, x, rp, rq):
    """A rotation that takes x away: its two diagonal entries, x, and what lies in their rows."""
    angle = (q - p) / (2 * x)
    t = torch.where(angle < 0, -1.0, 1.0) / (angle.abs() + (angle * angle + 1).sqrt())
    t = torch.where(x == 0, 0.0, t)
    c = (t * t + 1).rsqrt()
    return p - t * x, q + t * x, torch.zeros_like(x), c * rp - t * c * rq, t * c * rp + c * rq
