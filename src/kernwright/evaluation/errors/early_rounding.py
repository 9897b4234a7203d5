"""Whether a narrow result was made of numbers that were narrow before: its own rounding would hide that."""

import math
from collections.abc import Sequence

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.problem.cases import Case

from .allowance import hides_rounding
from .nearness import stretches

LEAST = 1024
"""Results that are not 0, from which on their errors are told apart by their mean square."""
SURE, MOST = 0.03, 0.2
"""Squares of the last place, in the mean, by which PyTorch's result may be off the oracle rounded once, where more is
asked at all; then any result may be off by so many. An error of e last places, far below one, makes numbers fall to the
other side in about a share e of all places. Operands of products that are rounded to bfloat16 before make it 0.32, what
is four times as inexact inside as PyTorch's at the limit 0.13."""
FEW_OTHERS, MOST_OTHERS = 0.01, 0.1
"""The same for the share of numbers that are others than the oracle's rounded once: a large row is most of all
squares, and no more of the numbers than any. Products, sums and softmax in float32 make it 0.0001 to 0.004 of PyTorch's
and up to twice that in other orders, norms in one pass up to 0.06; operands of TF32 under bfloat16 make it 0.13,
those of bfloat16 0.5."""
COUNTED = 0.01
"""Share of all numbers' size from which on one counts there: beside usual results float32 loses all of a sigmoid that
is nearly 0."""


def rounded_early(
    got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, case: Case, problem: Problem, floor: float = 0.0
) -> float:
    """The square error, or the share of other numbers, over what is allowed where PyTorch rounds nothing else; 0.0
    where that is not said, as beside a `floor`, an error that is allowed in any case."""
    if floor or native.numel() < LEAST or not hides_rounding(native.dtype, case, problem):
        return 0.0
    rounded = oracle.to(native.dtype)
    sums = [0.0] * 5
    for mine, theirs, true in map(_settled, stretches(got, native, rounded)):
        parts = (mine - true, theirs - true, _last_place(true, native.dtype), true, (true != 0).double())
        sums = _added(sums, torch.stack([torch.dot(p, p) for p in parts]))
    *squares, size, count = sums
    if count < LEAST:
        return 0.0
    least, counts = COUNTED * math.sqrt(size / count), [0.0] * 3
    for mine, theirs, true in map(_settled, stretches(got, native, rounded)):
        large = true.abs() > least
        asked = ((mine != true) & large, (theirs != true) & large, large)
        counts = _added(counts, torch.stack([each.sum() for each in asked]))
    by_number = _over(counts, FEW_OTHERS, MOST_OTHERS) if counts[2] >= LEAST else 0.0
    return max(_over(squares, SURE, MOST), by_number)


def _settled(stretch: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Where each of them has a number; what stands elsewhere is compared elsewhere."""
    known = torch.stack([each.isfinite() for each in stretch]).all(0)
    return tuple(each[known] for each in stretch)


def _added(sums: Sequence[float], told: torch.Tensor) -> list[float]:
    return [a + b for a, b in zip(sums, told.tolist(), strict=True)]


def _over(sums: Sequence[float], sure: float, most: float) -> float:
    error, own, whole = sums
    return error / (most * whole) if own <= sure * whole and whole else 0.0


def _last_place(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What the last digit counts of each, in a narrower type."""
    info = torch.finfo(dtype)
    places = (torch.frexp(numbers).exponent - 1).double().exp2().clamp(min=info.smallest_normal)
    return torch.where(numbers == 0, info.smallest_normal, places) * info.eps
