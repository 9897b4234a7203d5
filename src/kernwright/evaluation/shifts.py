"""One input away from where its numbers were drawn: gates that no draw leaves open, and densities that no draw has.

What forgets, decays or is filled up after some steps on all that a generator draws may go on for longer elsewhere; who
stops there is right by chance. By how much errors differ is chance too, so that no more is asked than for other values
far from the generator's.
"""

import random
from functools import partial

from .cases import Case
from .nans import hides_nan
from .probe import Probe, Way, compare_far, varies
from .setting import Setting

LABEL = "an input shifted"
BY, MOST = (2.5, 6.0), 3
"""Standard deviations, and inputs that are shifted, each alone, to either side."""


def shift_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two for each input."""
    numbers = [n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex() and v.numel() > 1]
    some = rng.sample(numbers, min(MOST, len(numbers)))
    return [partial(_probe, setting, base, n, side * rng.uniform(*BY)) for n in some for side in (1, -1)]


def _probe(setting: Setting, base: Case, number: int, by: float) -> Probe | None:
    values, value = list(base.values), base.values[number]
    values[number] = (value + by * value.double().std()).to(value.dtype)
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    return Probe(case, partial(compare_far, setting, base, case)) if varies(case.native, number=True) else None
