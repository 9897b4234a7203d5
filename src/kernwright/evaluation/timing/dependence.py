"""Where a participant's speed depends on whether values look like the generator's, the slower counts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from .race import Race
from .statistics import ABBA, block_log_ratios

LEAST = 0.05
"""Differences of the log ratio up to this are nobody's: the mean over all blocks holds half of them anyway."""
CHANCE = 0.02
"""Probability at which equal blocks are taken for different ones; the least that three blocks beside five can show."""


def charge_dependence(race: Race, participant: str) -> float:
    """How much longer it takes, beside the fastest baseline, on mixed values than on the generator's; 0 by chance.

    A negative number: so much less. Samples on the values that suit it better take so much longer afterwards, so that
    whoever looks at inputs first gains nothing by those that are not looked at elsewhere. By ranks, since others' work
    on the machine lengthens single blocks tenfold (H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18,
    1947).
    """
    baselines = race.baselines & set(race.stayed())
    if participant in race.baselines or not race.mixed or not baselines:
        return 0.0
    fastest = min(baselines, key=lambda name: median(race.times_ns(name)))
    ratios = block_log_ratios(race.times_ns(participant), race.times_ns(fastest))
    plain, mixed = ([r for b, r in enumerate(ratios) if (b in race.mixed) is asked] for asked in (False, True))
    if not plain or not mixed:
        return 0.0
    later = median(plain) - median(mixed)
    if abs(later) <= LEAST or _chance(mixed, plain, later) > CHANCE:
        return 0.0
    race.clocks[participant] = [
        replace(
            c,
            device_ns=c.device_ns * math.exp(abs(later)),
            call_ns=None if c.call_ns is None else c.call_ns * math.exp(abs(later)),
        )
        if (number // ABBA in race.mixed) is (later < 0)
        else c
        for number, c in enumerate(race.clocks[participant])
    ]
    return math.expm1(later)


def _chance(mixed: Sequence[float], plain: Sequence[float], later: float) -> float:
    from scipy.stats import mannwhitneyu

    found = mannwhitneyu(mixed, plain, alternative="less" if later > 0 else "greater", method="exact")
    return float(found.pvalue)
