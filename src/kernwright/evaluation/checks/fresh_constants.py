"""What every draw has alike is an input all the same: a result must follow it, however late it changes."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, combinations

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.drawing.regularity import is_definite
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.nans import has_nan
from kernwright.evaluation.numbers import is_number, told
from kernwright.evaluation.probes.probe import compare_far
from kernwright.evaluation.probes.single_constants import single_constants, with_others
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial
from kernwright.evaluation.weights.otherwise import CHANGES, Change, as_matrices, stretched

SHARE = (0.125, 0.5)
"""Least and most of an axis that becomes smaller."""
MANY, SOME = 0.25, 4096
"""Share of an input's numbers from which on it is not drawn anew, but for some; and how many are looked at for that."""
FEW, STEADY = 0.02, 0.8
"""Share of them that all draws have alike, from which on places are never drawn; and so many of those that two draws
have alike are: of sixteen numbers that come everywhere two draws have a sixteenth of the places alike by chance."""
ROUNDED, FEWEST, SPREAD = 8.0, 16, 0.01
"""Epsilons that numbers may be off a line because they were rounded; of fewer than so many some are by chance, and so
are those of which that is more than such a share of how far they lie apart."""
FACTOR = (0.3, 0.8)
"""By which: signs stay, and so do bounds."""


class FreshConstants:
    """Threat model, B1, among the timed calls; that such an input counts at all is for `SingleElement` to see."""

    name = "fresh_constants"

    def verify(self, trial: Trial) -> CheckResult:
        larger, single = _by_size(trial.setting)
        partly = partial(_followed, trial, larger, partial(_partly, trial))
        for some, followed in ((larger, partly), (single, partial(_followed_alone, trial, single))):
            verdict = where_possible(trial.setting.reference, followed) if some else None
            if verdict is not None and not verdict.passed:
                return self._failed(verdict)
        return CheckResult(name=self.name, passed=True)

    def glance_at_all(self, trial: Trial) -> CheckResult:
        """One call after every number of such inputs changed: whoever keeps what it made of them has it all to do."""
        larger, _ = _by_size(trial.setting)
        for number in larger:
            if number not in trial.setting.borne:
                trial.setting.borne[number] = _borne(trial, number)
        followed = partial(_followed, trial, larger, partial(_altogether, trial, trial.setting.borne.__getitem__))
        verdict = where_possible(trial.setting.reference, followed) if larger else None
        return CheckResult(name=self.name, passed=True) if verdict is None or verdict.passed else self._failed(verdict)

    def _failed(self, verdict: Verdict) -> CheckResult:
        what = "an input that is the same in every draw, or one of few, changed, and the result did not follow"
        return CheckResult(name=self.name, passed=False, detail=f"{what}: {verdict.detail}")


def constants(setting: Setting) -> list[int]:
    """Inputs of numbers, by their place, that several draws have alike, all of them or most, and that may have other
    values; and matrices that stay as they were drawn in all else that is tried, in which something may be alike that
    nobody looks for, as correlations are."""
    if setting.lean:
        return []
    if setting.constants is None:  # asked for again and again while others wait for the device
        setting.constants = _found(setting)
    return setting.constants


def _found(setting: Setting) -> list[int]:
    draws = [base.values for base in setting.bases]
    return single_constants(draws) + [
        number
        for number, values in enumerate(zip(*draws, strict=True))
        if isinstance(values[0], torch.Tensor) and values[0].numel() > 1 and values[0].dim()
        if is_number(values[0]) and number not in setting.marks
        if number in setting.held or _mostly_alike(values)
    ]


def _mostly_alike(values: Sequence[torch.Tensor]) -> bool:
    """Whether all numbers of two draws are, but for one scale and one shift, or, of some, many that are not 0, or a few
    at their places in all draws."""
    generator = torch.Generator(values[0].device).manual_seed(0)
    places = tuple(torch.randint(n, (SOME,), generator=generator, device=values[0].device) for n in values[0].shape)
    some = [value[places] for value in values]
    same = [one == other for one, other in combinations(some, 2)]
    many = [(at & (one != 0)).float().mean() for at, (one, _) in zip(same, combinations(some, 2), strict=True)]
    in_all = (torch.stack(same).all(0) & (some[0] != 0)).float().mean()
    answers = told([*(at.all() for at in same), *many, in_all])
    likely, shares, steady = answers[: len(same)], answers[len(same) : -1], answers[-1]
    pairs = zip(likely, shares, combinations(values, 2), strict=True)
    if (len(same) > 1 and steady >= FEW and steady >= STEADY * max(shares)) or _lie_on_a_line(values, some):
        return True
    return any(share >= MANY or (alike and torch.equal(*pair)) for alike, share, pair in pairs)


def _lie_on_a_line(values: Sequence[torch.Tensor], some: Sequence[torch.Tensor]) -> bool:
    """Whether the numbers of two draws are the same but for a scale and a shift, by least squares on some of them."""
    if not values[0].is_floating_point() or values[0].numel() < FEWEST:
        return False
    eps = ROUNDED * float(torch.finfo(values[0].dtype).eps)
    pairs = [_line(*pair) for pair in combinations(some, 2)]
    numbers = iter(told(chain(*pairs)))
    return any(off <= eps * size < SPREAD * spread for off, spread, size in zip(numbers, numbers, numbers, strict=True))


def _line(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """How far the others are off the line that is nearest to all, how far from their mean, and their size."""
    x, y = (value.double() - value.double().mean() for value in (one, other))
    off = y - (x * y).sum() / x.square().sum() * x
    return off.abs().amax(), y.abs().amax(), other.double().abs().amax()


def _by_size(setting: Setting) -> tuple[list[int], list[int]]:
    """Those of many numbers, and of one."""
    numbers = constants(setting)
    single = [number for number in numbers if setting.bases[0].values[number].numel() == 1]
    return [number for number in numbers if number not in single], single


Changed = Callable[[int, torch.Tensor], torch.Tensor]
"""Another value for an input, by its number."""


def _followed(trial: Trial, numbers: list[int], change: Changed) -> Verdict | None:
    """Whether the result follows; None where the reference makes nothing of such values."""
    case = _case(trial.setting, trial.setting.another(trial.rng), numbers, change)
    if case is None:
        return None
    trial.disguise()
    return trial.judge(trial.run(case.values), case)


def _case(setting: Setting, base: Case, numbers: Sequence[int], change: Changed) -> Case | None:
    values = [change(n, value) if n in numbers else value for n, value in enumerate(base.values)]
    kept: Values = setting.kept(values, values)
    case = setting.case(kept, "other values of what is always the same, or one of few", base.seed)
    return None if any(map(has_nan, case.native)) else case


def _borne(trial: Trial, number: int) -> Change | None:
    """The first change of all numbers of this input that the problem's code bears."""
    setting = trial.setting
    for change in CHANGES:
        made = partial(_altogether, trial, {number: change}.__getitem__)
        if where_possible(setting.reference, partial(_case, setting, setting.bases[0], [number], made)) is not None:
            return change
    return None


def _altogether(trial: Trial, borne: Callable[[int], Change | None], number: int, value: torch.Tensor) -> torch.Tensor:
    other = as_matrices(value, trial.rng, orthogonal=trial.setting.is_rigid(number), definite=is_definite(value))
    if other is not None:
        return other
    if number in trial.setting.held:
        return stretched(value, trial.rng, value.shape[-1])
    change = borne(number)
    return value if change is None else change(value, trial.rng)


def _followed_alone(trial: Trial, numbers: list[int]) -> Verdict | None:
    """The same of inputs of one number; digits may be lost, as of a power of many."""
    setting = trial.setting
    base = setting.another(trial.rng)
    case = with_others(setting, base, numbers, trial.rng)
    if case is None:
        return None
    trial.disguise()
    return trial.judge(trial.run(case.values), case, partial(compare_far, setting, base, case))


def _partly(trial: Trial, number: int, value: torch.Tensor) -> torch.Tensor:
    """Some of its numbers are smaller, along one axis."""
    some = max(1, round(value.shape[-1] * trial.rng.uniform(*SHARE)))
    rigid = trial.setting.is_rigid(number)
    other = as_matrices(value, trial.rng, orthogonal=rigid, definite=is_definite(value), some=some)
    if other is not None:
        return other
    if number in trial.setting.held:
        return stretched(value, trial.rng, some)
    changed, rng = value.clone(memory_format=torch.contiguous_format), trial.rng
    axes = [axis for axis, n in enumerate(value.shape) if n > 1]
    axis = trial.setting.reference.turns.next(f"constant {number}", axes, rng)
    length = max(1, round(value.shape[axis] * rng.uniform(*SHARE)))
    changed.narrow(axis, rng.randrange(value.shape[axis] - length + 1), length).mul_(rng.uniform(*FACTOR))
    return changed
