"""Whether a narrow result was made of numbers that were narrow before: its own rounding would hide that."""

import math

import torch

from kernwright.core.problem import Problem

from .allowance import hides_rounding
from .cases import Case
from .nearness import stretches

LEAST = 1024
"""Results, from which on their errors are told apart by their mean square."""
SURE, MOST = 0.03, 0.2
"""Squares of the last place, in the mean, by which PyTorch's result may be off the oracle rounded once, where more is
asked at all; then any result may be off by so many. An error of e last places, far below one, makes numbers fall to the
other side in about a share e of all places. Operands of products that are rounded to bfloat16 before make it 0.32, what
is four times as inexact inside as PyTorch's at the limit 0.13."""


def rounded_early(got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, case: Case, problem: Problem) -> float:
    """The square error over what is allowed where PyTorch rounds nothing but the result; 0.0 where that is not said."""
    if native.numel() < LEAST or not hides_rounding(native.dtype, case, problem):
        return 0.0
    sums = [0.0] * 3
    for mine, theirs, true in stretches(got, native, oracle.to(native.dtype)):
        parts = (mine - true, theirs - true, _last_place(true, native.dtype))
        sums = [a + b for a, b in zip(sums, torch.stack([torch.dot(p, p) for p in parts]).tolist(), strict=True)]
    error, own, place = sums
    if not all(map(math.isfinite, sums)) or own > SURE * place:
        return 0.0
    return error / (MOST * place)


def _last_place(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What the last digit counts of each, in a narrower type."""
    info = torch.finfo(dtype)
    return (torch.frexp(numbers).exponent - 1).double().exp2().clamp(min=info.smallest_normal) * info.eps
