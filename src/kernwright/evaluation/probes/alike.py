"""One number at a few places of an input, and nothing elsewhere: what it is off by does not average out.

In a mean over a million numbers the errors of each, as of a table of 11 bits, cancel out far below what rounding
explains of the whole. Of one number they are all the same. It must not stand everywhere: additions of equal numbers are
rounded in one direction, so that a chain of n of them is off by up to n u and not by the root of that (Higham, Accuracy
and Stability of Numerical Algorithms, 2002, chapter 4), which an honest sum in sixteen lanes shows more than such a
table. So it stands at a few places, and elsewhere is a number of which the reference makes nothing.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.errors.allowance import FEW, FEW_LESS, chains_of, unavoidable
from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.numbers import chances, generator_for, is_number
from kernwright.evaluation.problem.cases import Asked, Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .probe import Probe, Way, all_finite

LEAST = 512
"""Input elements behind an output from which on digits of single ones are lost in it."""
PLACES = 128
"""About so many of them are the number: a chain of additions that is short, and as many as make a sum."""
TRIES = 3
"""Other numbers, at other places: one may be near to what a short format has."""
NEUTRAL = (0.0, -120.0, 120.0)
"""Of one of these many a function makes nothing: exp(-120) is 0 in float32."""
QUIET = 1e-7
"""Share of the result up to which it is nothing."""
TELLING = 0.03
"""The reference has to make at least so much of a number as of usual ones: near a root there are few digits."""
MOVED = 4.0
"""How many times what the reference itself moves an error may be, where inputs differ in their last digit."""
SAME = 2.5
"""How many times what is unavoidable of usual numbers the error of one may be: it does not average out. What a function
is put together from near a root, as Stirling's series is, may be a hundred times larger than its result."""


@dataclass(frozen=True, slots=True)
class _Neutral:
    """A number that the reference makes next to nothing of, and of what size that is for each output."""

    number: float
    sizes: list[float]


def alike_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """For problems that add up many numbers; which of equal ones is chosen, or has a gradient, nobody is asked."""
    behind = max(setting.fan_in, default=0.0)
    floating = all(t.is_floating_point() or t.is_complex() for t in base.native)
    if setting.lean or setting.reference.problem.backward or not floating or behind < LEAST:
        return []
    numbers = _largest(setting, base)

    @cache
    def neutral() -> _Neutral | None:
        return _neutral(setting, base, numbers)

    def way() -> Probe | None:
        rest = neutral()
        return None if rest is None else _probe(setting, base, rng, numbers, rest, PLACES / behind)

    return [way] * TRIES if numbers else []


def _largest(setting: Setting, base: Case) -> list[int]:
    """The inputs of numbers of the largest shape: what is smaller, as a scale is, stays as it was drawn."""
    altered = [n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex()]
    largest = max((base.values[n].numel() for n in altered), default=0)
    shape = next((base.values[n].shape for n in altered if base.values[n].numel() == largest), None)
    return [n for n in altered if base.values[n].shape == shape]


def _filled(setting: Setting, base: Case, numbers: Sequence[int], rest: float) -> Values:
    values: Values = list(base.values)
    for number in numbers:
        values[number] = torch.full_like(values[number], rest, memory_format=torch.contiguous_format)
    return values


def _neutral(setting: Setting, base: Case, numbers: Sequence[int]) -> _Neutral | None:
    """The first such number, if any."""
    usual = [_size(t) for t in base.native]
    for rest in NEUTRAL:
        values = setting.kept(_filled(setting, base, numbers, rest), base.values)
        outputs = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
        sizes = [_size(t) for t in outputs or ()]
        if sizes and all(size <= QUIET * most for size, most in zip(sizes, usual, strict=True)):
            return _Neutral(rest, sizes)
    return None


def _probe(
    setting: Setting, base: Case, rng: random.Random, numbers: Sequence[int], rest: _Neutral, density: float
) -> Probe | None:
    """At the same places of all these inputs, another number in each."""
    values = _filled(setting, base, numbers, rest.number)
    first = values[numbers[0]]
    at = chances(first, rng) < density
    for number in numbers:
        drawn = base.values[number].flatten()
        some = (float(drawn[rng.randrange(drawn.numel())]) * rng.uniform(0.9, 1.1) for _ in range(2))
        values[number][at] = max(some, key=abs)  # of what is nearly nothing a result hardly says anything
    case = setting.case(setting.kept(values, base.values), "one number at a few places", base.seed)
    if not all_finite(case.native):
        return None
    for made, usual, without in zip(case.native, base.native, rest.sizes, strict=True):
        size = _size(made)
        if size < TELLING * density * _size(usual) or without > QUIET * size:
            return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        problem = setting.reference.problem
        verdict = compare_chosen(outputs, case, setting)
        if verdict.passed:
            return verdict
        # As an error of each number is judged elsewhere: by the usual size of what is made of one, not by this one's.
        usual = [
            SAME * _usual(problem, t, k) * density for t, k in zip(base.native, chains_of(case, problem), strict=True)
        ]
        floors = [max(pair) for pair in zip(usual, _moves(setting, case, rng), strict=True)]
        return compare_chosen(outputs, case, setting, floors)

    return Probe(case, judge)


def _usual(problem: Problem, native: torch.Tensor, chain: float) -> float:
    few = native.numel() <= FEW and not problem.tolerance.reduction
    return unavoidable(problem, native.dtype, chain / FEW_LESS if few else chain) * _size(native)


def _moves(setting: Setting, case: Case, rng: random.Random) -> list[float]:
    """For each output, what the oracle moves where every number of the inputs differs in its last digit."""
    if not isinstance(case, Asked) or case.wide is None:
        return [0.0] * len(case.native)

    def nearby(value: torch.Tensor) -> torch.Tensor:
        noise = torch.rand(value.shape, generator=generator_for(value, rng), device=value.device, dtype=torch.float64)
        return value.double() * (1 + torch.finfo(value.dtype).eps * (2 * noise - 1))

    values = [nearby(v) if is_number(v) and not v.is_complex() else v for v in case.values]
    moved = where_possible(setting.reference, partial(case.wide, values))
    pairs = zip(moved, case.oracle, strict=True) if moved is not None else ((t, t) for t in case.oracle)
    return [MOVED * _size(other - true) for other, true in pairs]


def _size(tensor: torch.Tensor) -> float:
    """Root mean square; infinite of what is not finite."""
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    size = float(torch.linalg.vector_norm(tensor, dtype=wide)) / math.sqrt(tensor.numel() or 1)
    return size if math.isfinite(size) else math.inf
