"""Intervals and summaries, against simulation and arithmetic."""

import math
import random
from statistics import NormalDist

import pytest

pytest.importorskip("scipy")

from kernwright.evaluation.statistics import (
    block_log_ratios,
    t_interval,
    t_quantile,
    weighted_mean,
)


def test_quantiles_are_students() -> None:
    assert t_quantile(4, 0.975) == pytest.approx(2.7764, abs=1e-4)
    assert t_quantile(10**6, 0.975) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-4)


@pytest.mark.parametrize("n", [5, 8])
def test_interval_covers_the_truth_as_often_as_it_says(n: int) -> None:
    rng = random.Random(7)
    hits = 0
    for _ in range(2000):
        interval = t_interval([rng.gauss(math.log(1.3), 0.05) for _ in range(n)])
        hits += interval.low <= 1.3 <= interval.high
    assert 0.93 < hits / 2000 < 0.97


def test_one_value_has_no_interval() -> None:
    interval = t_interval([0.1])
    assert (interval.low, interval.high, interval.n) == (0.0, math.inf, 1)


def test_blocks_pair_neighbouring_samples() -> None:
    ratios = block_log_ratios([1.0, 1.0, 2.0, 2.0], [2.0, 2.0, 2.0, 8.0])
    assert ratios == pytest.approx([math.log(2), math.log(2)])


def test_drift_that_hits_both_sides_alike_cancels() -> None:
    drift = [1 + 0.1 * i for i in range(16)]
    assert t_interval(block_log_ratios(drift, [2 * d for d in drift])).high == pytest.approx(2)


def test_weights_need_not_sum_to_one() -> None:
    assert weighted_mean([1.0, 4.0], [2.0, 1.0]) == pytest.approx(2.0)
