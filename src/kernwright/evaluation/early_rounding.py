"""Whether a narrow result was made of numbers that were narrow before: its own rounding would hide that."""

import math
from collections.abc import Sequence

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
FEW_OTHERS, MOST_OTHERS = 0.01, 0.15
"""The same for the share of numbers, of those that are not 0, that are others than the oracle's rounded once: a large
row is most of all squares, and no more of the numbers than any. Products, sums, norms and softmax in float32 make it
0.0001 to 0.004 of PyTorch's and up to twice that in other orders, operands of 16 bits 0.2 to 0.6."""


def rounded_early(got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, case: Case, problem: Problem) -> float:
    """The square error, or the share of other numbers, over what is allowed where PyTorch rounds nothing else; 0.0
    where that is not said."""
    if native.numel() < LEAST or not hides_rounding(native.dtype, case, problem):
        return 0.0
    sums = [0.0] * 6
    for mine, theirs, true in stretches(got, native, oracle.to(native.dtype)):
        parts = (mine - true, theirs - true, _last_place(true, native.dtype))
        counts = _others(mine, true), _others(theirs, true), (true != 0).sum()
        told = torch.stack([*(torch.dot(p, p) for p in parts), *(count.double() for count in counts)])
        sums = [a + b for a, b in zip(sums, told.tolist(), strict=True)]
    if not all(map(math.isfinite, sums)):
        return 0.0
    by_size, by_number = sums[:3], sums[3:]
    return max(_over(by_size, SURE, MOST), _over(by_number, FEW_OTHERS, MOST_OTHERS))


def _others(got: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """How many numbers differ, of those that are not 0; not waited for."""
    return ((got != true) & (true != 0)).sum()


def _over(sums: Sequence[float], sure: float, most: float) -> float:
    error, own, whole = sums
    return error / (most * whole) if own <= sure * whole and whole else 0.0


def _last_place(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What the last digit counts of each, in a narrower type."""
    info = torch.finfo(dtype)
    return (torch.frexp(numbers).exponent - 1).double().exp2().clamp(min=info.smallest_normal) * info.eps
