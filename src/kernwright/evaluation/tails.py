"""Outputs of which few numbers are nearly all of the size, as ratios are whose denominators come near 0."""

import torch

from .allowance import FEW
from .cases import Case

TAIL = 1 / 16
"""Share of the numbers that are looked at by themselves, the largest; of ratios of normal numbers, three times as many
are most of the size of those that are left."""


def counting(true: torch.Tensor) -> float:
    """How many of these numbers are most of their size: (sum x^2)^2 / sum x^4, which is n of n that are alike and 1 of
    one among zeros (the participation ratio; R. J. Bell and P. Dean, Discuss. Faraday Soc. 50, 1970)."""
    squares = _sizes(true).square()
    most = float(squares.max()) if squares.numel() else 0.0
    if not most > 0.0:
        return float(true.numel())
    squares /= most
    return float(squares.sum().square() / squares.square().sum())


def tail_in(case: Case, index: int) -> torch.Tensor | None:
    """Where the largest of an output's numbers stand, in truth values, where few of many are most of their size, and of
    no input's: what one large number of many adds to all others' errors, as by way of a Fourier transform, is right."""
    given = (value for value in case.values if isinstance(value, torch.Tensor) and value.is_floating_point())
    if (tail := tail_of(case.oracle[index])) is None or any(tail_of(value) is not None for value in given):
        return None
    return tail


def tail_of(true: torch.Tensor) -> torch.Tensor | None:
    """Where the largest of these numbers stand, where few of many are most of their size."""
    largest = int(TAIL * true.numel())
    if largest < FEW or counting(true) > FEW:
        return None
    sizes = _sizes(true)
    return sizes > sizes.flatten().topk(largest).values[-1]


def _sizes(true: torch.Tensor) -> torch.Tensor:
    return torch.where(true.isfinite(), true, 0.0).abs().double()
