"""A case that the judge has made up, and what ways of making one up share."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.factors import compare_factored
from kernwright.evaluation.errors.gross import is_bearable, loses_digits_alone, size
from kernwright.evaluation.errors.inputs_last_digits import excused
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import by_parts, generator_for, is_number, told
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.spending import Spending
from kernwright.evaluation.weights.state import state_of


@dataclass(frozen=True, slots=True)
class Probe:
    """A case, and how outputs are compared with it."""

    case: Case
    compare: Callable[[list[torch.Tensor]], Verdict]


Way = Callable[[], Probe | None]
"""Makes a probe; None, or a UserError, where the reference does not bear its values."""


def in_time(setting: Setting, ways: Sequence[Way]) -> Iterator[Probe]:
    """What these make, in turn, for as long as there is time; comparing counts."""
    spending = Spending(slowed=setting.reference.place.slowed)
    for way in ways:
        if spending.over:
            return
        with spending:
            probe = where_possible(setting.reference, way)
        if probe is not None:
            yield Probe(probe.case, spending.counted(probe.compare))
            del probe  # there may be no room for two


def changed(setting: Setting, base: Case, change: Callable[[torch.Tensor], torch.Tensor]) -> Values:
    """The base's values, all numbers changed; what all draws share is kept."""
    return setting.kept([by_parts(change, v) if is_number(v) else v for v in base.values], base.values)


def small_integers(rng: random.Random) -> Callable[[torch.Tensor], torch.Tensor]:
    """From -3 to 3, of a value's shape and type: sums and products of them are exact."""

    def draw(value: torch.Tensor) -> torch.Tensor:
        return torch.randint(
            -3, 4, value.shape, generator=generator_for(value, rng), device=value.device, dtype=torch.int64
        ).to(value.dtype)

    return draw


def all_finite(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether all numbers are; integers always are."""
    return all(told(torch.isfinite(t).all() for t in tensors if t.is_floating_point() or t.is_complex()))


def tells(setting: Setting, tensors: Sequence[torch.Tensor], *, number: bool = False, finite: bool = False) -> bool:
    """Whether each output that varies in a draw does so here, or each where none does: where all of one is 0, or 1, a
    last digit would be all of the error. Truth values have no digits, and may all be alike beside others.

    `number`: and whether not-a-number is nowhere among any of them; `finite`: nor an infinite one.
    """
    asked = [t for n, t in enumerate(tensors) if n not in setting.still] or tensors
    asked = [t for t in asked if t.dtype != torch.bool] or asked
    if not all(t.numel() for t in asked):
        return False
    looks = [(t != t.flatten()[0]).any() for t in asked if t.numel() > 1]
    if number or finite:
        looks += [t.isfinite().all() if finite else ~t.isnan().any() for t in tensors if is_number(t)]
    return all(told(looks))


def far_probe(setting: Setting, base: Case, values: Values, label: str) -> Probe | None:
    """Of such values, with whatever all draws have in common."""
    values = setting.kept(values, base.values)
    return None if hides_nan(setting, values) else shown_far(setting, base, setting.case(values, label, base.seed))


def shown_far(setting: Setting, base: Case, case: Case) -> Probe | None:
    """Of such a case whose outputs say something."""
    return Probe(case, partial(compare_far, setting, base, case)) if tells(setting, case.native, number=True) else None


def compare_far(setting: Setting, base: Case, case: Case, outputs: list[torch.Tensor]) -> Verdict:
    """The rule of error for values far from the generator's, which the base has: nobody is asked for what PyTorch does
    not know itself; whoever loses digits alone is not refused, nor is who rounds off what is next to nothing beside
    usual results, as 0.5 + 0.5 tanh(x / 2) does of a sigmoid."""
    problem = setting.reference.problem
    verdict = compare_factored(outputs, case, setting)
    if verdict.passed or not is_bearable(case.native, case.oracle):
        return Verdict(passed=True, ratio=min(verdict.ratio, 1.0))
    if loses_digits_alone(outputs, case, gradients=problem.backward):
        return Verdict(passed=True, ratio=1.0)
    lost = problem.tolerance.epsilon_factor * torch.finfo(torch.float32).eps
    if all(_is_within(lost, *each) for each in zip(outputs, case.oracle, base.native, strict=True)):
        return Verdict(passed=True, ratio=1.0)
    return excused(verdict, outputs, case, setting)


def _is_within(share: float, got: torch.Tensor, true: torch.Tensor, usual: torch.Tensor) -> bool:
    """Whether it is off by no more than so much of what is usual, where that is finite."""
    if not is_number(got):
        return bool(torch.equal(got, true))
    return bool(((got.to(true.dtype) - true).abs() <= share * size(usual.where(usual.isfinite(), 0))).all())


def others(setting: Setting, values: Sequence[Any], number: int) -> Iterator[torch.Tensor]:
    """Numbers beside those of one input: the other inputs, and what the model holds."""
    device = values[number].device
    inputs = [other for n, other in enumerate(values) if n != number]
    for other in (*inputs, *state_of(setting.model).values()):
        if is_number(other) and not other.is_complex() and other.device == device:
            yield other.detach()
