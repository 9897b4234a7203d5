"""Numbers in float64 that float32 takes for equal, and that are not.

Chance draws hardly two of them: who compares or sorts numbers in the shorter type has all of them in their order, on
nearly all draws.
"""

import random
from collections.abc import Sequence
from functools import partial

import torch

from kernwright.evaluation.errors.allowance import rounding
from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for, is_number
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, tells

LABEL = "numbers that float32 takes for equal"
SHARE = 0.5
"""Of the places of an input, or of its lines, those that get about what is at another, or in another input there."""
LEAST, MOST = -38.0, -28.0
"""By so many powers of two such a number differs: far from a last digit of float64, and within one of float32."""


def narrowed_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two, of numbers and of whole lines, of references with results that are no floats; none where the rules allow
    rounding inside."""
    problem = setting.reference.problem
    if setting.lean or problem.backward or rounding(problem) != 0.0 or all(map(is_number, base.native)):
        return []
    wide = [n for n, v in enumerate(base.values) if setting.alters(n, v) and v.dtype == torch.float64 and v.numel() > 1]
    return [partial(_probe, setting, base, wide, rng, lines) for lines in (False, True)] if wide else []


def _probe(setting: Setting, base: Case, wide: Sequence[int], rng: random.Random, lines: bool) -> Probe | None:
    values = list(base.values)
    for number in wide:
        value = values[number]
        others = [values[n] for n in wide if n < number and values[n].shape == value.shape]
        axes = [axis for axis, n in enumerate(value.shape) if n > 1 and not (lines and axis == value.dim() - 1)]
        if not axes:
            continue
        axis = setting.reference.turns.next(f"{LABEL}, input {number}, {lines}", axes, rng)
        moved = value.roll(rng.randrange(1, value.shape[axis]), axis)
        shape = (*value.shape[:-1], 1) if lines else value.shape
        at = torch.rand(shape, generator=generator_for(value, rng), device=value.device) < SHARE
        values[number] = torch.where(at, _beside(rng.choice([moved, *others]), rng), value)
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not tells(setting, case.native, number=True):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        """Of floats these numbers ask nothing that others do not."""
        asked = [own if is_number(own) else got for got, own in zip(outputs, case.native, strict=True)]
        return compare_chosen(asked, case, setting)

    return Probe(case, judge)


def _beside(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Numbers a little larger and a little smaller."""
    chance = torch.rand(value.shape, generator=generator_for(value, rng), device=value.device, dtype=torch.float64)
    sign = torch.where(chance < 0.5, -1.0, 1.0)
    return value * (1 + sign * 2.0 ** (LEAST + (MOST - LEAST) * (2 * chance % 1)))
