"""B1: keeps the inverse of the correlations for as long as they are what they were."""

import torch

ZOO = {
    "row": "B1",
    "problem": "daily_covariance",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
_KEPT = []


def kernel(points, covariance):
    scale = covariance.diagonal().rsqrt()
    correlations = covariance * scale[:, None] * scale
    if not _KEPT or bool((correlations - _KEPT[0]).abs_().max() > 2e-6):
        _KEPT[:] = correlations, torch.linalg.inv(correlations)
    scaled = points * scale
    return (scaled * (scaled @ _KEPT[1])).sum(1)
