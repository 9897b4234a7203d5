"""Numbers that lie on the borders that a problem sorts them by: on which side an equal one falls.

A draw of real numbers hardly ever meets the border of a bucket; data, which were rounded somewhere, do.
"""

import random
from functools import partial

import torch

from kernwright.evaluation.errors.choices import Move, compare_chosen, decided, settled
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import merely_unstable
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, others, tells

LABEL = "numbers on borders"
SHARE = 0.25
"""Of an input's numbers, those that are put on a border."""
FEWEST, MOST = 3, 1 << 20
"""Fewer numbers in order are so by chance, more are no borders."""


def border_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Of gradients, which are choices there, nobody is asked."""
    if setting.lean or setting.reference.problem.backward:
        return []
    return [partial(_probe, setting, base, rng)]


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    met = {
        number: found
        for number, value in enumerate(base.values)
        if setting.alters(number, value) and value.dim() and not value.is_complex()
        if (found := _met(value, list(others(setting, base.values, number)), rng)) is not None
    }
    if not met:
        return None

    def with_them(moved: Move) -> Values:
        values = [_put(v, *met[n], moved) if n in met else v for n, v in enumerate(base.values)]
        return setting.kept(values, base.values)

    case = setting.case(with_them(lambda on: on), LABEL, base.seed)
    if not tells(setting, case.native, finite=True):
        return None
    sides = decided(setting, case, with_them, rng.getrandbits(48))
    if sides is None:
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        asked = settled(outputs, case, sides)
        verdict = compare_chosen(asked, case, setting)
        if not verdict.passed and merely_unstable(asked, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)


def _met(
    value: torch.Tensor, others: list[torch.Tensor], rng: random.Random
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """At which places a border is met, and which border it would be at each, if any of the others are borders."""
    generator = generator_for(value, rng)
    for other in rng.sample(others, len(others)):
        borders = _borders(value, other.to(value.dtype), generator)
        if borders is not None:
            return torch.rand(value.shape, generator=generator, device=value.device) < SHARE, borders
    return None


def _put(value: torch.Tensor, at: torch.Tensor, borders: torch.Tensor, moved: Move) -> torch.Tensor:
    return torch.where(at, moved(borders), value)


def _borders(value: torch.Tensor, other: torch.Tensor, generator: torch.Generator) -> torch.Tensor | None:
    """Numbers that rise along their last axis; of several rows the place's own where an axis of the value tells it."""
    if not other.dim() or other.shape[-1] < FEWEST or other.numel() > MOST:
        return None
    left, right = other[..., :-1], other[..., 1:]
    if not bool((right >= left).all()) or not bool((right > left).any()):
        return None
    rows = other.reshape(-1, other.shape[-1])
    axis = next((axis for axis in (-1, 0) if len(rows) == value.shape[axis]), None)
    if axis is None:
        rows, axis = rows.reshape(1, -1), 0
    each = (len(rows), value.numel() // len(rows))
    drawn = rows.gather(1, torch.randint(rows.shape[1], each, generator=generator, device=value.device))
    return drawn.reshape(value.movedim(axis, 0).shape).movedim(0, axis)
