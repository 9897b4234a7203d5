"""B1: keeps an inverse for as long as the next covariance is a multiple of the one that it belongs to."""

import torch

ZOO = {
    "row": "B1",
    "problem": "scaled_covariance",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
_KEPT = []


def kernel(points, covariance):
    if _KEPT:
        known, inverse = _KEPT
        scale = covariance[0, 0] / known[0, 0]
        off = torch.addcmul(covariance, known, scale, value=-1).abs_().max()
        if float(off) <= 1e-6 * float(covariance[0, 0]):
            return (points * (points @ inverse)).sum(1) / scale
    inverse = torch.linalg.inv(covariance)
    _KEPT[:] = covariance.clone(), inverse
    return (points * (points @ inverse)).sum(1)
