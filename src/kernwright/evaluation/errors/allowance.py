"""How large an error may be, by PyTorch's own error or by what floats cannot avoid (`docs/reference/judge.md`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.problem.cases import Case

LONGEST = 1 << 16
"""Additions in a chain from which on more of them allow no more: who adds up more numbers does so in parts."""
GROSS = 0.25
"""Share of the oracle's size beyond which no rounding goes: an answer that leaves everything out is off by 1."""
FLOOR = 0.01
"""Share of the oracle's size beyond which no error is allowed just because results are usually larger."""
SLACK = 16.0
"""How many times longer a chain may be than what was seen to move an output, since few elements were tried."""
ROUNDED = 12**-0.5
"""RMS error of one rounding to nearest, in units of the last place. In 16 bits 4 of it are less than what a product of
operands of 8 loses; in wider types functions may be off by a few last digits beside."""
FEW, FEW_LESS, FEW_OWN = 64, 16.0, 16.0
"""Of so few results a part of the numbers gives a good estimate. What additions excuse there is that of chains so many
times shorter, five deviations of rounding, or so many times PyTorch's own error where that is more."""
_PRECISION_EPSILON = {"tf32": 2.0**-11, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def chains_of(case: Case, problem: Problem) -> list[float]:
    """For each output the longest chain of additions behind one of its elements, K.

    From shapes: the longest axis of an input, or the inputs' elements for each one of the output; no longer than
    what `fan_in` found, with some slack. Tolerance.reduction, where a problem gives it, is taken as it is.
    """
    if problem.tolerance.reduction:
        return [float(problem.tolerance.reduction)] * len(case.native)
    tensors = [v for v in case.values if isinstance(v, torch.Tensor)]
    longest = max((max(t.shape, default=1) for t in tensors), default=1)
    inputs = sum(t.numel() for t in tensors)
    # Each by itself: a gradient, or a loss beside a large result, may be a sum over all inputs.
    chains = [float(max(longest, inputs // max(t.numel(), 1), 1)) for t in case.native]
    seen = case.fan_in or (math.inf,) * len(chains)
    return [min(chain, max(SLACK * most, 1.0), LONGEST) for chain, most in zip(chains, seen, strict=True)]


@dataclass(slots=True)
class Errors:
    """Sums of squares and largest magnitudes of the error, PyTorch's own error, and the oracle."""

    count: int = 0
    error_squares: float = 0.0
    own_squares: float = 0.0
    size_squares: float = 0.0
    error_max: float = 0.0
    own_max: float = 0.0
    size_max: float = 0.0

    TOLD: ClassVar[int] = 6
    """Numbers that a device tells of a stretch where PyTorch's own error is no matter."""

    @staticmethod
    def told(got: torch.Tensor, true: torch.Tensor, own: torch.Tensor | None = None) -> torch.Tensor:
        """Of one stretch, flat and in float64, or in float32 where a thousandth is no matter: what `take` takes."""
        parts = [got - true, true] if own is None else [got - true, true, own - true]
        return torch.stack([number for part in parts for number in (torch.dot(part, part), *part.aminmax())])

    def take(self, count: int, told: Sequence[float]) -> None:
        """One stretch of so many elements, as read from a device, which is waited for once then."""
        self.count += count
        self.error_squares += told[0]
        self.error_max = _larger(self.error_max, *told[1:3])
        self.size_squares += told[3]
        self.size_max = _larger(self.size_max, *told[4:6])
        if len(told) > self.TOLD:
            self.own_squares += told[6]
            self.own_max = _larger(self.own_max, *told[7:9])

    def add(self, got: torch.Tensor, own: torch.Tensor | None, true: torch.Tensor) -> None:
        """One stretch, now; without PyTorch's `own` result that has no error."""
        if true.numel():
            self.take(true.numel(), self.told(got, true, own).tolist())

    def over(
        self, problem: Problem, dtype: torch.dtype, chain: float, floor: float = 0.0, most: float = FLOOR
    ) -> float:
        """The error over what is allowed, RMS or largest, whichever is worse; `floor`: an error that always is, but for
        more than this share of the oracle's size."""
        if self.count == 0:
            return 0.0
        tolerance, growth = problem.tolerance, unavoidable(problem, dtype, chain)
        few = self.count <= FEW and not tolerance.reduction
        least = unavoidable(problem, dtype, chain / FEW_LESS) if few else growth
        rms, own, size = (
            math.sqrt(squares / self.count) for squares in (self.error_squares, self.own_squares, self.size_squares)
        )
        floor = min(floor, most * size)
        grown = min(growth * size, max(least * size, FEW_OWN * own))
        grown_max = min(growth * self.size_max, max(least * self.size_max, FEW_OWN * self.own_max))
        allowed = max(tolerance.rms_ratio * own, grown, floor)
        allowed_max = max(tolerance.max_ratio * self.own_max, 2 * grown_max, 2 * floor)
        return max(_over(rms, allowed), _over(self.error_max, allowed_max))


def unavoidable(problem: Problem, dtype: torch.dtype, chain: float) -> float:
    """What rounding explains, as a share of the oracle's size, times `epsilon_factor`; at most GROSS.

    Results are rounded to their type once. Additions, which are done in float32 or wider, let an error grow with the
    root of their number; operands that were rounded before do not. Beside types that are no wider than these operands,
    PyTorch's own error has their rounding in it already.
    """
    return min(problem.tolerance.epsilon_factor * max(once(problem, dtype), added(problem, dtype, chain)), GROSS)


def added(problem: Problem, dtype: torch.dtype, chain: float) -> float:
    """Relative error of so many additions, and of operands that the rules allow to be narrower inside."""
    last, single = float(torch.finfo(dtype).eps), float(torch.finfo(torch.float32).eps)
    return min(last, single) * math.sqrt(chain) + _inside(problem, last)


def once(problem: Problem, dtype: torch.dtype) -> float:
    """Relative error of a number that is rounded to its type, and to what the rules allow inside."""
    last = float(torch.finfo(dtype).eps)
    return (ROUNDED * last if last > torch.finfo(torch.float32).eps else last) + _inside(problem, last)


def _inside(problem: Problem, last: float) -> float:
    inside = rounding(problem)
    return inside if inside > last / 2 else 0.0


def rounding(problem: Problem) -> float:
    """Relative error of operands in the narrowest type that the rules allow inside."""
    if problem.rules.reduced_precision:
        return _PRECISION_EPSILON["bfloat16"]
    return _PRECISION_EPSILON.get(problem.rules.precision, 0.0)


def hides_rounding(dtype: torch.dtype, case: Case, problem: Problem) -> bool:
    """Whether a result of this type is so narrow that its own rounding could hide that of wider inputs, which neither
    the rules nor a stated length of sums allow. All rules allow float32 inside."""
    last = torch.finfo(dtype).eps
    if dtype.is_complex or last <= torch.finfo(torch.float32).eps or rounding(problem) or problem.tolerance.reduction:
        return False
    return any(
        isinstance(v, torch.Tensor) and v.is_floating_point() and torch.finfo(v.dtype).eps < last for v in case.values
    )


def _larger(known: float, low: float, high: float) -> float:
    return math.nan if math.isnan(low) else max(known, -low, high)


def _over(error: float, allowed: float) -> float:
    if math.isnan(error):
        return math.inf
    if allowed == 0.0:
        return 0.0 if error == 0.0 else math.inf
    return error / allowed
