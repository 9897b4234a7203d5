"""Whether a result's errors are those of products whose operands were shortened, which the rules do not allow.

How large an error is tells little where most of a result is known without the product, or common to all its numbers, as
a residual beside attention or sums of positive numbers: there additions explain as much. Which numbers are off and
which way does tell: a reference whose operands are rounded to TF32 or bfloat16 is off by the very same, while errors of
additions in another order are as often the other way.
"""

import math
from collections.abc import Sequence
from functools import partial

import torch

from .allowance import rounding
from .cases import Asked, Case, Later
from .comparison import Results, Verdict, spot
from .cut_off import Operands, Shorten, Shortened, cut_to_tf32, rounded_to_bfloat16, rounded_to_tf32
from .nearness import stretches
from .setting import Setting
from .shortage import where_possible
from .trial import Trial

KINDS: dict[str, Shorten] = {
    "rounded to TF32": rounded_to_tf32,
    "cut off to TF32": cut_to_tf32,
    "rounded to bfloat16": rounded_to_bfloat16,
}
MOST = 0.03
"""Share of a result's numbers, beyond those that are off by as much the other way, that chance explains in no order of
additions. Noise as large as the error that is looked for leaves 0.27 of it, twice as large 0.08."""
SURE = 8.0
"""Standard deviations of chance."""
MANY = 256
"""Results of which one call tells enough."""
DRAWS, FIRST = 24, 3
"""Calls that are looked at together where there are fewer, and so many of these before anybody is suspected."""
MOST_OF_FEW, SURE_OF_FEW = 0.5, 4.5
"""The same limits there: all 24 single numbers that are off alike are five deviations."""
PASSED = Verdict(passed=True, ratio=0.0)
VISIBLE = 0.5
"""Of the last place of a result, from which on an error is asked about: a smaller one is lost where that is rounded."""


def operands_met(setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> Verdict:
    """For outputs that met the rule of errors. Where the reference does not run in float64 nobody knows."""
    if not asks(setting, case):
        return PASSED
    tally = Tally(setting)
    tally.add(case, outputs)
    return tally.verdict(MOST, SURE)


def few_results_met(trial: Trial) -> Verdict:
    """The same of outputs that are few numbers each, of several draws of the generator."""
    setting = trial.setting
    base = setting.bases[0]
    most = min((n for t in base.native if (n := t.numel()) and _has_digits(t)), default=MANY)
    if setting.lean or most >= MANY or not asks(setting, base):
        return PASSED
    tally = Tally(setting)
    for number in range(min(DRAWS, -(-MANY // most))):
        case = setting.bases[number] if number < len(setting.bases) else setting.another(trial.rng)
        tally.add(case, trial.run_case(case, move=number % 2 == 0))
        if number + 1 >= FIRST and tally.verdict(MOST_OF_FEW, 0.0).passed:
            break
    return tally.verdict(MOST_OF_FEW, SURE_OF_FEW)


class Tally:
    """Of each output of some calls, for each way to shorten operands: how many numbers are off as that makes them."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._sums: dict[tuple[str, int], list[float]] = {}
        self._latest: list[Results] = []

    def add(self, case: Case, outputs: Sequence[torch.Tensor]) -> None:
        """The outputs of one call; nothing where the reference refuses such operands."""
        whole = case.made() if isinstance(case, Later) else case
        if not isinstance(whole, Asked) or whole.wide is None:
            return
        self._latest = [*zip(outputs, whole.native, whole.oracle, strict=True)]
        for kind, shorten in KINDS.items():
            with Shortened(shorten, torch.float64):
                short = where_possible(self._setting.reference, partial(whole.wide, whole.values))
            if short is None or [t.shape for t in short] != [t.shape for t in whole.oracle]:
                continue
            for index, results in enumerate(self._latest):
                if _has_digits(results[1]):
                    known, more = self._sums.get((kind, index), [0.0] * 5), _sums(*results, short[index])
                    self._sums[kind, index] = [a + b for a, b in zip(known, more, strict=True)]

    def verdict(self, most: float, sure: float) -> Verdict:
        """Whether no more of any output than `most` are off so, where that is so many standard deviations."""
        worst = max(self._sums, key=lambda key: _beyond(self._sums[key], sure), default=None)
        if worst is None or (share := _beyond(self._sums[worst], sure)) <= most:
            return PASSED
        kind, index = worst
        largest = spot(self._setting.names[index], *self._latest[index])
        detail = f"{largest}; {share:.0%} of it is off as products are whose operands were {kind}"
        return Verdict(passed=False, ratio=share / most, detail=detail)


def asks(setting: Setting, case: Case) -> bool:
    """Whether the reference multiplies, all of it in float32, and the rules allow no less; found out once for each
    workload."""
    known, name = setting.reference.multiplies, setting.workload.name
    if name not in known:
        problem = setting.reference.problem
        wide = isinstance(case, Asked) and case.wide is not None and not rounding(problem)
        operands = Operands()
        if wide:
            with operands:
                where_possible(setting.reference, partial(setting.reference.outputs, setting.model, case.values))
        known[name] = operands.dtypes == {torch.float32}
    return known[name]


def differs(got: Sequence[torch.Tensor], case: Case) -> torch.Tensor:
    """Whether more numbers than that are others than PyTorch's; a truth value where the outputs are."""
    shares = [(a != b).float().mean() > MOST / 2 for a, b in zip(got, case.native, strict=True) if a.numel()]
    return torch.stack(shares).any()


def _has_digits(native: torch.Tensor) -> bool:
    return native.is_floating_point() or native.is_complex()


def _sums(got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, short: torch.Tensor) -> list[float]:
    """How many numbers are asked about; how many are off as `short` is, and by as much the other way; and how many of
    PyTorch's own."""
    sums, last = [0.0] * 5, VISIBLE * torch.finfo(native.dtype).eps
    for mine, own, true, other in stretches(got, native, oracle, short):
        step = other - true
        asked = torch.isfinite(own) & torch.isfinite(step) & (step.abs() > last * true.abs())
        half, told = step[asked].abs() / 2, [asked.sum()]
        for result in (mine, own):
            error = (result - true)[asked]
            told += [((error - step[asked]).abs() <= half).sum(), ((error + step[asked]).abs() <= half).sum()]
        sums = [a + b for a, b in zip(sums, torch.stack(told).tolist(), strict=True)]
    return sums


def _beyond(sums: Sequence[float], sure: float) -> float:
    """The share of numbers that are off so, less that of those that are off the other way; 0.0 where that may be
    chance, or PyTorch's own are too."""
    count, near, far, own_near, own_far = sums
    beyond = near - far
    return 0.0 if beyond <= sure * math.sqrt(near + far) or own_near - own_far > beyond / 2 else beyond / count
