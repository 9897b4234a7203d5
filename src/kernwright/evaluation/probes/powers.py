"""Of a wide range of integers: those beside powers and squares, and the first of all, one after the other.

Between bounds that lie far apart chance draws none of them. Who counts digits or bits by a logarithm or a float's
exponent, or takes a float's root for an integer's, is beside the step there; and what holds for all but a few integers,
as a test of primes by one base does, fails first among the small ones.
"""

import math
from collections.abc import Callable
from functools import partial

import torch

from kernwright.evaluation.numbers import chances, generator_for
from kernwright.evaluation.problem.cases import Values

from .drawn import Drawn, below, with_within

WIDE = 1 << 16
"""So many integers lie between bounds from which on they are far apart."""
BASES, LARGEST = (2, 10), 1 << 62
BESIDE = 1
"""Integers before a power, and after it, that stand for it too."""
Ways = list[tuple[str, Callable[[], Values]]]


def power_ways(drawn: Drawn) -> Ways:
    """Two for each such input; the first of them for all such inputs at once."""
    wide = [n for n, (low, high) in drawn.bounds.items() if high - low > WIDE]
    ways: Ways = [("integers beside powers", partial(drawn.with_others, wide, partial(_beside, drawn)))] if wide else []
    free = [n for n in wide if n not in drawn.ordered and drawn.base.values[n].numel() < WIDE]
    return [*ways, *(("the first integers of all", partial(_first, drawn, number)) for number in free)]


def _beside(drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    """A power of one of the bases, or a square, of either sign where there are both."""
    low, high = drawn.bounds[number]
    most = min(max(abs(low), abs(high - 1)), LARGEST)
    powers = [base**k for base in BASES for k in range(1, most.bit_length()) if base**k <= most]
    known = torch.tensor(powers, device=value.device)[below(value, len(powers), drawn.rng)]
    squares = below(value, math.isqrt(most) + 1, drawn.rng).square()
    made = torch.where(chances(value, drawn.rng) < 0.5, known, squares)
    made = made + below(value, 2 * BESIDE + 1, drawn.rng) - BESIDE
    return torch.where(chances(value, drawn.rng) < 0.5, -made, made) if low < 0 else made


def _first(drawn: Drawn, number: int) -> Values:
    """From the least one on, each once, in any order."""
    value: torch.Tensor = drawn.base.values[number]
    places = torch.randperm(value.numel(), generator=generator_for(value, drawn.rng), device=value.device)
    return with_within(drawn, number, drawn.bounds[number][0] + places.view(value.shape))
