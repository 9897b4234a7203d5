"""Numbers below 1 that all draws keep away from it, nearer to it: with such discounts and decays more is left after
many steps than after as many of any draw."""

import random
from functools import partial

import torch

from kernwright.evaluation.drawing.extent import Extent, extent_of
from kernwright.evaluation.drawing.regularity import Regularity
from kernwright.evaluation.numbers import chances
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, shown_far

LABEL = "numbers nearer to 1"
NEARER = (0.02, 0.1)
"""What is left of their distance from 1."""
FEW = 1 / 16


def near_one_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """All numbers of such an input, and a few of them; of complex ones their absolute values."""
    numbers = [n for n, value in enumerate(base.values) if setting.alters(n, value) and _may(setting, n)]
    return [
        partial(_probe, setting, base, number, rng.uniform(*NEARER), share, rng)
        for number in numbers
        for share in (1.0, FEW)
    ]


def _may(setting: Setting, number: int) -> bool:
    """Whether numbers keep below 1, and to nothing else: sums of lines and definite matrices would be others."""
    regularity = setting.regular.get(number)
    if regularity is None:
        values = [each.values[number] for each in setting.bases]
        return values[0].is_complex() and _keeps_below(extent_of([value.abs() for value in values]))
    alone = regularity.zeros is None and regularity == Regularity(extent=regularity.extent)
    return alone and _keeps_below(regularity.extent)


def _keeps_below(extent: Extent | None) -> bool:
    return extent is not None and extent.most is not None and extent.most < 1


def _probe(setting: Setting, base: Case, number: int, nearer: float, share: float, rng: random.Random) -> Probe | None:
    values = list(base.values)
    value = values[number]
    moved = value.sgn() * (1 - (1 - value.abs()) * nearer)
    values[number] = torch.where(chances(value, rng) < share, moved, value).to(value.dtype)
    return shown_far(setting, base, setting.case(values, LABEL, base.seed))
