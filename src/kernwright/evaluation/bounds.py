"""Numbers that lie on what a problem compares them with: on which side of a bound an equal one falls.

A draw of real numbers hardly ever meets the border of a bucket or a threshold; data, which were rounded somewhere, do.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from .comparison import Verdict, compare
from .gross import merely_unstable
from .numbers import is_number
from .probe import Probe, Way, all_finite, generator_for, varies
from .reference import Case, Values
from .setting import Setting

LABEL = "numbers on their bounds"
SHARE = 0.25
"""Of an input's numbers, those that are put on a bound."""
MOST = 1 << 20
"""More numbers in order are no borders."""
Kind = Callable[[torch.Tensor, torch.Tensor, torch.Generator], torch.Tensor | None]
"""What the first would be were all of it on bounds, if the second may be bounds of it."""


def bound_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One for borders in order, one for thresholds; of gradients, which are choices there, nobody is asked."""
    if setting.lean or setting.reference.problem.backward:
        return []
    return [partial(_probe, setting, base, rng, kind) for kind in (_borders, _thresholds)]


def _probe(setting: Setting, base: Case, rng: random.Random, kind: Kind) -> Probe | None:
    met = {
        number: some
        for number, value in enumerate(base.values)
        if setting.alters(number, value) and value.dim() and not value.is_complex()
        if (some := _met(value, list(_others(setting, base, number)), kind, rng)) is not None
    }
    if not met:
        return None
    values: Values = [met.get(number, value) for number, value in enumerate(base.values)]
    case = setting.case(setting.kept(values, base.values), LABEL, base.seed)
    if not all_finite(case.native) or not all(varies(t) for t in case.native):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare(outputs, case, setting.reference.problem, setting.names)
        if not verdict.passed and merely_unstable(outputs, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)  # differences of equal numbers
        return verdict

    return Probe(case, judge)


def _others(setting: Setting, base: Case, number: int) -> Iterator[torch.Tensor]:
    """The other inputs, and what the model holds."""
    device = base.values[number].device
    inputs: list[Any] = [other for n, other in enumerate(base.values) if n != number]
    for other in (*inputs, *setting.model.parameters(), *setting.model.buffers()):
        if is_number(other) and not other.is_complex() and other.device == device:
            yield other.detach()


def _met(value: torch.Tensor, others: list[torch.Tensor], kind: Kind, rng: random.Random) -> torch.Tensor | None:
    """Some of the value's numbers are bounds, if any of the others are such."""
    generator = generator_for(value, rng)
    for other in rng.sample(others, len(others)):
        bounds = kind(value, other.to(value.dtype), generator)
        if bounds is not None:
            at = torch.rand(value.shape, generator=generator, device=value.device) < SHARE
            return torch.where(at, bounds, value)
    return None


def _thresholds(value: torch.Tensor, other: torch.Tensor, generator: torch.Generator) -> torch.Tensor | None:
    """Numbers that lie beside the value's, each beside one or several."""
    fits = zip(reversed(other.shape), reversed(value.shape), strict=False)
    beside = other.dim() <= value.dim() and all(n in (1, size) for n, size in fits)
    return other.expand(value.shape) if beside else None


def _borders(value: torch.Tensor, other: torch.Tensor, generator: torch.Generator) -> torch.Tensor | None:
    """Numbers that rise along their last axis; of several rows the place's own where an axis of the value tells it."""
    if not other.dim() or not 1 < other.numel() <= MOST:
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
