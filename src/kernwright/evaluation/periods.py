"""Numbers that are larger at even distances: who looks at every so many-th one to guess at the rest, or keeps a few of
each lane, is right on numbers in any order."""

import random
from functools import partial

from .cases import Case
from .nans import hides_nan
from .probe import Probe, Way, compare_far, varies
from .setting import Setting

LABEL = "larger at even distances"
SHORTEST, MIDDLE, FEWEST = 8, 64, 8
"""Distances are powers of two, as lanes and strides are: the shortest, of which those of most samples are multiples,
one from the middle on where lines are so long, and at least so many numbers of a line are larger."""
BY = (4.0, 8.0)
"""Standard deviations, to either side."""


def period_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One of the shortest distance, from the first number on, where samples mostly begin, and two of a longer one: who
    keeps the largest of each lane sees nothing of small ones."""
    axes = [
        (number, axis)
        for number, value in enumerate(base.values)
        if setting.alters(number, value) and not value.is_complex()
        for axis, length in enumerate(value.shape)
        if length >= SHORTEST * FEWEST
    ]
    sides = [(False, rng.choice((-1, 1))), (True, -1), (True, 1)]
    return [partial(_probe, setting, base, rng, rng.choice(axes), *side) for side in sides] if axes else []


def _probe(
    setting: Setting, base: Case, rng: random.Random, where: tuple[int, int], long: bool, side: int
) -> Probe | None:
    number, axis = where
    values, value = list(base.values), base.values[number].clone()
    period = _period(value.shape[axis] // FEWEST, rng, long)
    by = side * rng.uniform(*BY) * value.double().std()
    value.movedim(axis, -1)[..., rng.randrange(period) if long else 0 :: period] += by.to(value.dtype)
    values[number] = value
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    return Probe(case, partial(compare_far, setting, base, case)) if varies(case.native, number=True) else None


def _period(longest: int, rng: random.Random, long: bool) -> int:
    known = [1 << n for n in range(SHORTEST.bit_length() - 1, longest.bit_length()) if 1 << n <= longest]
    return rng.choice([each for each in known if each >= MIDDLE] or known) if long else SHORTEST
