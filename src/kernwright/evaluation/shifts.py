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

FAR, SOME = (5.0, 10.0), 2
"""As many times 1, of so many inputs, whatever the deviation is: to what is nearly open, and not as far as where
nothing is left."""


def shift_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two for each input, and two more for some whose numbers are near each other."""
    numbers = [n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex() and v.numel() > 1]
    some = rng.sample(numbers, min(MOST, len(numbers)))
    by = [(n, side * rng.uniform(*BY) * float(base.values[n].double().std())) for n in some for side in (1, -1)]
    near = [n for n in numbers if 0 < float(base.values[n].double().std()) * BY[1] < FAR[0]]
    by += [(n, side * rng.choice(FAR)) for n in rng.sample(near, min(SOME, len(near))) for side in (1, -1)]
    return [partial(_probe, setting, base, n, distance) for n, distance in by]


def _probe(setting: Setting, base: Case, number: int, by: float) -> Probe | None:
    values, value = list(base.values), base.values[number]
    values[number] = (value + by).to(value.dtype)
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    return Probe(case, partial(compare_far, setting, base, case)) if varies(case.native, number=True) else None
