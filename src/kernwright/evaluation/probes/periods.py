"""Numbers that are larger at even distances: who looks at every so many-th one to guess at the rest, or keeps a few of
each lane, is right on numbers in any order."""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial

import torch

from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, far_probe

LABEL = "larger at even distances"
SHORTEST, MIDDLE, FEWEST = 8, 64, 8
"""Distances are powers of two, as lanes and strides are: the shortest, of which those of most samples are multiples,
and from the middle on where lines are so long; at least so many numbers of a line are larger."""
BY = (4.0, 8.0)
"""Standard deviations, to either side."""


def period_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One of the shortest distance, from the first number on, where samples mostly begin; two of longer ones, and two
    of such as are another power of two longer or shorter, since lanes may be skewed from row to row: along the longest
    axis, and along any. Who keeps the largest of each lane sees nothing of small ones."""
    axes = [
        (number, axis)
        for number, value in enumerate(base.values)
        if setting.alters(number, value) and not value.is_complex()
        for axis, length in enumerate(value.shape)
        if length >= SHORTEST * FEWEST
    ]
    if not axes:
        return []
    longest = max(axes, key=lambda where: base.values[where[0]].shape[where[1]])

    def way(where: tuple[int, int], kind: Callable[[int], list[int]]) -> Way:
        distances = kind(base.values[where[0]].shape[where[1]] // FEWEST)
        rng.shuffle(distances)
        return partial(_probe, setting, base, rng, where, partial(_at_long, distances, rng))

    turns = setting.reference.turns
    where, sign = turns.next("short period", [(where, sign) for sign in (-1, 1) for where in axes], rng)
    ways: list[Way] = [partial(_probe, setting, base, rng, where, partial(_at_shortest, sign))]
    for kind in (_powers, _skewed):
        ways += [way(longest, kind), way(turns.next(kind.__name__, axes, rng), kind)]
    return ways


def _probe(
    setting: Setting,
    base: Case,
    rng: random.Random,
    where: tuple[int, int],
    signs: Callable[[torch.Tensor], torch.Tensor],
) -> Probe | None:
    number, axis = where
    values, value = list(base.values), base.values[number].clone()
    along = value.movedim(axis, -1)
    along += signs(along) * (rng.uniform(*BY) * value.double().std()).to(value.dtype)
    values[number] = value
    return far_probe(setting, base, values, LABEL)


def _at_shortest(sign: int, along: torch.Tensor) -> torch.Tensor:
    """Of every so many-th number of a line its sign, else 0."""
    signs = torch.zeros_like(along, dtype=torch.int8)
    signs[..., ::SHORTEST] = sign
    return signs


def _at_long(distances: Sequence[int], rng: random.Random, along: torch.Tensor) -> torch.Tensor:
    """Of each line the next of these distances, from a place of its own on; smaller numbers are at another one."""
    return _places(distances, rng, along) - _places(distances[::-1], rng, along)


def _places(distances: Sequence[int], rng: random.Random, along: torch.Tensor) -> torch.Tensor:
    *lines, length = along.shape
    generator, device = generator_for(along, rng), along.device
    each = torch.tensor(distances, dtype=torch.int32, device=device)
    each = each[torch.arange(math.prod(lines), device=device) % len(each), None]
    starts = (torch.rand(each.shape, generator=generator, device=device) * each).int()
    beyond = torch.arange(length, dtype=torch.int32, device=device) - starts
    return ((beyond >= 0) & (beyond % each == 0)).view(along.shape).to(torch.int8)


def _powers(longest: int) -> list[int]:
    known = [1 << n for n in range(SHORTEST.bit_length() - 1, longest.bit_length())]
    return [each for each in known if each >= MIDDLE] or known


def _skewed(longest: int) -> list[int]:
    shorter = [1 << n for n in range(longest.bit_length())]
    known = [each + sign * less for each in _powers(longest) for less in shorter if less < each for sign in (-1, 1)]
    return [each for each in known if SHORTEST <= each <= longest] or _powers(longest)
