"""Intervals for ratios of times."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy.special import stdtrit

from kernwright.core.outcome import Interval

ABBA = 2
"""Samples of each participant in a block."""
TRIMMED = 0.25
"""Share of a participant's samples in a process set that is left out at either end."""
LEAST_FLOOR = 0.005
"""No A/A floor is taken to be below half a per cent."""


def t_interval(log_ratios: Sequence[float], confidence: float = 0.95, *, first: int | None = None) -> Interval:
    """Student's t-interval on the mean of log ratios, as ratios.

    Blocks, or process sets, are the independent units; their ratios are taken as log-normal.
    One value has no interval: its bounds are 0 and infinity.

    `first`: so many were taken whatever they showed, and their spread decided how many more (`blocks_wanted`). The
    interval keeps its confidence where the spread is that of the first alone, since the mean does not depend on it
    (C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals of
    Mathematical Statistics 16, 1945). What came later may only widen it.
    """
    mean, n = fmean(log_ratios), len(log_ratios)
    if n < 2:
        return Interval(estimate=math.exp(mean), low=0.0, high=math.inf, n=n)
    half = max(_half(log_ratios[:m], confidence) * math.sqrt(m / n) for m in {n, max(2, min(first or n, n))})
    return Interval(estimate=math.exp(mean), low=math.exp(mean - half), high=math.exp(mean + half), n=n)


def blocks_wanted(first: Sequence[float], half_width: float, confidence: float = 0.95) -> int:
    """How many log ratios, these included, bring the interval down to 1 ± `half_width`, by the spread of these."""
    half = _half(first, confidence) * math.sqrt(len(first))
    return max(len(first), math.ceil((half / math.log1p(half_width)) ** 2))


def trend(races: Sequence[Sequence[float]], confidence: float = 0.99) -> float:
    """Change of log times from the first block to the last, by one line for all races that share a slope alone.

    Each race is the log times of one participant, a value per block. 0 where chance may show as much: where a t-test
    of the slope, on what the blocks deviate from the line, does not refuse 0 at this confidence.
    """
    places = [[b - (len(race) - 1) / 2 for b in range(len(race))] for race in races]
    square = sum(x * x for xs in places for x in xs)
    degrees = sum(map(len, races)) - len(races) - 1
    if degrees < 1 or square == 0:
        return 0.0
    slope = sum(x * y for xs, ys in zip(places, races, strict=True) for x, y in zip(xs, ys, strict=True)) / square
    left = sum(
        (y - fmean(ys) - slope * x) ** 2
        for xs, ys in zip(places, races, strict=True)
        for x, y in zip(xs, ys, strict=True)
    )
    error = math.sqrt(left / degrees / square)
    if abs(slope) <= t_quantile(degrees, 0.5 + confidence / 2) * error:
        return 0.0
    return slope * (max(map(len, races)) - 1)


def _half(log_ratios: Sequence[float], confidence: float) -> float:
    n = len(log_ratios)
    return t_quantile(n - 1, 0.5 + confidence / 2) * stdev(log_ratios) / math.sqrt(n)


def t_quantile(degrees: int, probability: float) -> float:
    """Quantile of Student's t distribution."""
    return float(stdtrit(degrees, probability))


def block_log_ratios(candidate_ns: Sequence[float], other_ns: Sequence[float]) -> list[float]:
    """Log of other over candidate per ABBA block; entries 2b and 2b+1 are block b's two samples."""
    return [
        0.5
        * (
            math.log(other_ns[i])
            + math.log(other_ns[i + 1])
            - math.log(candidate_ns[i])
            - math.log(candidate_ns[i + 1])
        )
        for i in range(0, min(len(candidate_ns), len(other_ns)) - 1, ABBA)
    ]


def set_log_ratio(candidate_ns: Sequence[float], other_ns: Sequence[float]) -> float:
    """What one process set says: the log of other over candidate, each the mean of its log times' middle half.

    Other users of a machine lengthen single short calls tenfold and more. They decide a plain mean, and on a busy one
    reach so many blocks of four calls that leaving out blocks does not help (J. W. Tukey, "A survey of sampling from
    contaminated distributions", 1960). Participants take turns, so that a machine that slows down does so for all.
    """
    return _middle(other_ns) - _middle(candidate_ns)


def _middle(times_ns: Sequence[float]) -> float:
    logs = sorted(map(math.log, times_ns))
    out = int(TRIMMED * len(logs))
    return fmean(logs[out : len(logs) - out])


def aa_floor(log_ratios: Sequence[float], sets: int) -> float:
    """Relative difference that the mean of `sets` pairs of equal processes stays within, 97.5 % of the time.

    |mean| + t(0.975, n-1) s / sqrt(sets), with mean and standard deviation s of the log ratio over n fresh
    pairs of equal processes.
    """
    spread = abs(fmean(log_ratios)) + t_quantile(len(log_ratios) - 1, 0.975) * stdev(log_ratios) / math.sqrt(sets)
    return max(LEAST_FLOOR, math.expm1(spread))


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Mean with weights that need not sum to one."""
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)
