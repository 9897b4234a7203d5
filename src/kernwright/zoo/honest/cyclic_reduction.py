"""Solves systems of three diagonals by reducing all rows at once, as one may where the middle one outweighs its row."""

import torch.nn.functional as F

ZOO = {
    "row": "honest",
    "problem": "three_diagonals",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def _before(value, step, outside):
    return F.pad(value, (step, 0), value=outside)[:, :-step]


def _after(value, step, outside):
    return F.pad(value, (0, step), value=outside)[:, step:]


def kernel(lower, diagonal, upper, right):
    lower, upper = lower.clone(), upper.clone()
    lower[:, 0] = upper[:, -1] = 0
    step = 1
    while step < right.shape[1]:
        above = -lower / _before(diagonal, step, 1.0)
        below = -upper / _after(diagonal, step, 1.0)
        diagonal = diagonal + above * _before(upper, step, 0.0) + below * _after(lower, step, 0.0)
        right = right + above * _before(right, step, 0.0) + below * _after(right, step, 0.0)
        lower, upper = above * _before(lower, step, 0.0), below * _after(upper, step, 0.0)
        step *= 2
    return right / diagonal
