"""What every draw has alike is an input all the same: a result must follow it, however late it changes."""

from functools import partial

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.cases import Values
from kernwright.evaluation.comparison import Verdict
from kernwright.evaluation.nans import has_nan
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.probe import compare_far
from kernwright.evaluation.setting import Setting
from kernwright.evaluation.shortage import where_possible
from kernwright.evaluation.single_constants import single_constants, with_others
from kernwright.evaluation.trial import Trial

SHARE = (0.125, 0.5)
"""Least and most of an axis that becomes smaller."""
FACTOR = (0.3, 0.8)
"""By which: signs stay, and so do bounds."""


class FreshConstants:
    """JUDGE.md B1, among the timed calls; that such an input counts at all is for `SingleElement` to see."""

    name = "fresh_constants"

    def verify(self, trial: Trial) -> CheckResult:
        numbers = constants(trial.setting)
        single = [number for number in numbers if trial.setting.bases[0].values[number].numel() == 1]
        larger = [number for number in numbers if number not in single]
        for some, followed in ((larger, _followed), (single, _followed_alone)):
            verdict = where_possible(trial.setting.reference, partial(followed, trial, some)) if some else None
            if verdict is not None and not verdict.passed:
                what = "an input that is the same in every draw changed, and the result did not follow"
                return CheckResult(name=self.name, passed=False, detail=f"{what}: {verdict.detail}")
        return CheckResult(name=self.name, passed=True)


def constants(setting: Setting) -> list[int]:
    """Inputs of numbers, by their place, that are the same in all draws and may have other values."""
    if setting.lean:
        return []
    draws = [base.values for base in setting.bases]
    return single_constants(draws) + [
        number
        for number, values in enumerate(zip(*draws, strict=True))
        if isinstance(values[0], torch.Tensor) and values[0].numel() > 1 and values[0].dim()
        if is_number(values[0]) and number not in setting.marks
        if all(torch.equal(values[0], other) for other in values[1:])
    ]


def _followed(trial: Trial, numbers: list[int]) -> Verdict | None:
    """Whether the result follows; None where the reference makes nothing of such values."""
    setting, base = trial.setting, trial.rng.choice(trial.setting.bases)
    values = list(base.values)
    for number in numbers:
        values[number] = _smaller(values[number], trial)
    kept: Values = setting.kept(values, values)
    case = setting.case(kept, "other values of what is always the same", base.seed)
    if any(map(has_nan, case.native)):
        return None
    return trial.judge(trial.run(kept), case)


def _followed_alone(trial: Trial, numbers: list[int]) -> Verdict | None:
    """The same of inputs of one number; digits may be lost, as of a power of many."""
    setting, base = trial.setting, trial.rng.choice(trial.setting.bases)
    case = with_others(setting, base, numbers, trial.rng)
    if case is None:
        return None
    return trial.judge(trial.run(case.values), case, partial(compare_far, setting, base, case))


def _smaller(value: torch.Tensor, trial: Trial) -> torch.Tensor:
    changed, rng = value.clone(memory_format=torch.contiguous_format), trial.rng
    axis = rng.choice([axis for axis, n in enumerate(value.shape) if n > 1])
    length = max(1, round(value.shape[axis] * rng.uniform(*SHARE)))
    changed.narrow(axis, rng.randrange(value.shape[axis] - length + 1), length).mul_(rng.uniform(*FACTOR))
    return changed
