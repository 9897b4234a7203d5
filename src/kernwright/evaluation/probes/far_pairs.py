"""Two inputs far from 0 and near each other, of a type that is wider than the results: moments of a clock, say.

Who rounds such numbers to the type of the results before he takes their difference has nothing left of it, and is
right on all that a generator draws around 0. Only what stays as it is when both are moved by one number is asked for:
it hangs on their difference alone, and the reference has not lost that.
"""

import math
import random
from functools import partial
from itertools import combinations

import torch

from kernwright.evaluation.errors.allowance import rounding
from kernwright.evaluation.errors.choices import compare_chosen, near, settled
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import merely_unstable, size
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, all_finite

LABEL = "two inputs far from 0, near each other"
LEFT = 0.05
"""Squares of numbers so many times as far as 1 over the root of a last digit still tell differences of the usual size:
who takes squares of differences from products is off by less than a hundredth."""
MOST = 3
"""Pairs of inputs."""
MOSTLY = 0.99
"""Share of a result that has to stay for what is left of it to be asked for."""


def far_pair_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One for each of a few pairs; none where the rules allow rounding inside."""
    problem, results = setting.reference.problem, [t for t in base.native if is_number(t)]
    if setting.lean or problem.backward or rounding(problem) != 0.0 or not results:
        return []
    narrow = min(torch.finfo(t.dtype).eps for t in results)
    wide = [
        n
        for n, v in enumerate(base.values)
        if setting.alters(n, v) and not v.is_complex() and torch.finfo(v.dtype).eps < narrow**2
    ]
    pairs = [pair for pair in combinations(wide, 2) if base.values[pair[0]].dtype == base.values[pair[1]].dtype]
    pairs = rng.sample(pairs, min(MOST, len(pairs)))
    return [partial(_probe, setting, base, pair, _distance(base, pair, narrow, rng)) for pair in pairs]


def _distance(base: Case, pair: tuple[int, int], narrow: float, rng: random.Random) -> float:
    """How far from 0, on a side on which numbers were drawn."""
    drawn = [base.values[n] for n in pair]
    far = min(1 / narrow, LEFT / math.sqrt(torch.finfo(drawn[0].dtype).eps))
    sides = [side for side in (1, -1) if all(bool((v * side > 0).any()) for v in drawn)]
    return far * max(map(size, drawn)) * rng.choice(sides or [1]) * rng.uniform(0.8, 1)


def _probe(setting: Setting, base: Case, pair: tuple[int, int], distance: float) -> Probe | None:
    values = [v + distance if n in pair else v for n, v in enumerate(base.values)]
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not all_finite([*base.native, *case.native]):
        return None
    stays = [near(own, usual) for own, usual in zip(case.native, base.native, strict=True)]
    stays = [at if at.numel() and float(at.double().mean()) >= MOSTLY else torch.zeros_like(at) for at in stays]
    if not any(bool(at.any()) for at in stays):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        asked = settled(outputs, case, stays)
        verdict = compare_chosen(asked, case, setting)
        if not verdict.passed and merely_unstable(asked, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)
