"""Outputs of which few numbers are nearly all of the size, as ratios are whose denominators come near 0."""

import math

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Asked, Case

from .allowance import FEW

TAIL = 1 / 16
"""Share of the numbers that are looked at by themselves, the largest; of ratios of normal numbers, three times as many
are most of the size of those that are left."""


def counting(true: torch.Tensor) -> float:
    """How many of these finite numbers are most of their size: (sum x^2)^2 / sum x^4, which is n of n that are alike
    and 1 of one among zeros (the participation ratio; R. J. Bell and P. Dean, Discuss. Faraday Soc. 50, 1970)."""
    return float(counted(true)) if bool(true.any()) else float(true.numel())


def counted(true: torch.Tensor) -> torch.Tensor:
    """The same, as one number in float64 that is not waited for; no number where all are 0."""
    sizes = true.abs().double()
    sizes = sizes.div_(sizes.max()).square_()
    return (sizes.sum().square() / sizes.square_().sum()).view(1)


def tail_in(case: Case, problem: Problem, index: int) -> torch.Tensor | None:
    """Where the largest of an output's numbers stand, in truth values, where few of many are most of their size.

    None where what additions leave of them is not known, and where few of an input's are: what one large number of many
    adds to all others' errors, as by way of a Fourier transform, is right.
    """
    if not has_tails(case, problem) or (tail := tail_of(case.oracle[index])) is None:
        return None
    given = (value for value in case.values if is_number(value))
    return None if any(not bool(value.isfinite().all()) or tail_of(value) is not None for value in given) else tail


def has_tails(case: Case, problem: Problem) -> bool:
    """Whether an output's tail would be looked at."""
    known = isinstance(case, Asked) and case.wide is not None
    return known and not problem.tolerance.reduction and problem.rules.precision != "tf32"


def tail_of(true: torch.Tensor) -> torch.Tensor | None:
    """Where the largest of these numbers stand, where few of many are most of their size; None of infinite ones."""
    largest = int(TAIL * true.numel())
    if largest < FEW:
        return None
    size, most = (float(torch.linalg.vector_norm(true, order)) for order in (2, torch.inf))
    if not most < math.inf or size > math.sqrt(FEW) * most or counting(true) > FEW:
        return None
    return largest_of(true)


def largest_of(true: torch.Tensor) -> torch.Tensor:
    """Where the largest of these numbers stand, `TAIL` of them at most: none that differs from others by rounding."""
    sizes = true.abs()
    least = sizes.flatten().topk(int(TAIL * true.numel()), sorted=False).values.min()
    return sizes > (1 + 4 * torch.finfo(sizes.dtype).eps) * least
