"""Intervals for ratios of times."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy.special import stdtrit

from kernwright.core.outcome import Interval

ABBA = 2
"""Samples of each participant in a block."""
LEAST_FLOOR = 0.005
"""No A/A floor is taken to be below half a per cent."""


def t_interval(log_ratios: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t-interval on the mean of log ratios, as ratios.

    Blocks, or process sets, are the independent units; their ratios are taken as log-normal.
    One value has no interval: its bounds are 0 and infinity.
    """
    mean, n = fmean(log_ratios), len(log_ratios)
    if n < 2:
        return Interval(estimate=math.exp(mean), low=0.0, high=math.inf, n=n)
    half = t_quantile(n - 1, 0.5 + confidence / 2) * stdev(log_ratios) / math.sqrt(n)
    return Interval(estimate=math.exp(mean), low=math.exp(mean - half), high=math.exp(mean + half), n=n)


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
