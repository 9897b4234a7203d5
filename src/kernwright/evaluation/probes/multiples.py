"""Multiples of what a reference divides integers by, and the integers beside them, where draws have few.

Who divides by the product with a reciprocal is beside the step there, or on it where it does not belong; and who takes
away what is too much by fewer comparisons than it takes leaves the divisor itself.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from kernwright.evaluation.drawing.freedom import EXPECTED
from kernwright.evaluation.problem.cases import Values

from .asked import Wanted
from .drawn import Drawn, below

MOST_DIVISORS, MOST_PAIRS = 3, 2
"""Of an input, or of two; and of pairs of inputs."""
Ways = list[tuple[str, Callable[[], Values]]]


def multiple_ways(drawn: Drawn, wanted: Wanted) -> Ways:
    """Of what a number divides, of what another input does, and of sums and differences of two inputs."""
    made: Ways = []
    for number, (low, high) in drawn.bounds.items():
        steps = [(d, by) for d, by in sorted(wanted.divisors) if 1 < d < high - low]
        steps = [(d, by) for d, by in steps if _few_multiples(number, drawn, [d] * len(drawn.draws), by)]
        for divisor, by in drawn.rng.sample(steps, min(len(steps), MOST_DIVISORS)):
            change = partial(_multiple, divisor, by, drawn.rng)
            made.append((f"many multiples of {divisor}", partial(drawn.with_others, [number], change)))
    for number, other in sorted(wanted.divided):
        if number in drawn.bounds and _few_multiples(number, drawn, [v[other] for v in drawn.draws], 0):
            change = partial(_multiple, drawn.base.values[other], 0, drawn.rng)
            made.append(("many multiples of another input", partial(drawn.with_others, [number], change)))
    return [*made, *_of_two(drawn, sorted({divisor for divisor, _ in wanted.divisors}))]


def _multiple(divisor: Any, by: int, rng: random.Random, _: int, value: torch.Tensor) -> torch.Tensor:
    return value - _left(value, divisor, by) - below(value, 2, rng)


def _left(value: torch.Tensor, divisor: Any, by: int) -> torch.Tensor:
    """What divides by nothing is no multiple."""
    some = torch.as_tensor(divisor, device=value.device).abs()
    return (value.long() + by) % some.clamp(min=1)


def _few_multiples(number: int, drawn: Drawn, divisors: Sequence[Any], by: int) -> bool:
    lefts = (_left(values[number], each, by) for values, each in zip(drawn.draws, divisors, strict=True))
    return sum(int((left == 0).sum()) for left in lefts) < EXPECTED


def _of_two(drawn: Drawn, divisors: Sequence[int]) -> Ways:
    """Where two inputs lie at the same places: one of them so that their sum, or their difference, is a multiple."""
    values, rng, made = drawn.base.values, drawn.rng, Ways()
    free = [number for number in drawn.bounds if number not in drawn.ordered]
    pairs = [(n, m) for n in free for m in drawn.bounds if n != m and values[n].shape == values[m].shape]
    for number, other in rng.sample(pairs, min(len(pairs), MOST_PAIRS)):
        low, high = drawn.bounds[number]
        for sign, what in ((1, "sum"), (-1, "difference")):
            steps = [d for d in divisors if 1 < d <= high - low and _rarely_together(drawn, number, other, sign, d)]
            for divisor in rng.sample(steps, min(len(steps), MOST_DIVISORS)):
                change = partial(_so_that, drawn, other, sign, divisor)
                label = f"many a {what} of inputs a multiple of {divisor}"
                made.append((label, partial(drawn.with_others, [number], change)))
    return made


def _rarely_together(drawn: Drawn, number: int, other: int, sign: int, divisor: int) -> bool:
    lefts = (_left(values[number].long() + sign * values[other].long(), divisor, 0) for values in drawn.draws)
    return sum(int((left == 0).sum()) for left in lefts) < EXPECTED


def _so_that(drawn: Drawn, other: int, sign: int, divisor: int, number: int, value: torch.Tensor) -> torch.Tensor:
    """The multiple before, or the one after where there is no room; or an integer beside it."""
    wide = value.long()
    least = wide - _left(wide + sign * drawn.base.values[other].long(), divisor, 0)
    made = torch.where(least < drawn.bounds[number][0], least + divisor, least)
    return torch.where(below(wide, 2, drawn.rng) == 0, made, made + below(wide, 3, drawn.rng) - 1)
