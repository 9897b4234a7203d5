"""Intervals and summaries, against simulation and arithmetic."""

import math
import random
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import pytest

pytest.importorskip("scipy")
pytest.importorskip("torch")

from kernwright.core.loading import import_file
from kernwright.core.outcome import Timings
from kernwright.core.plan import QUICK
from kernwright.evaluation.timing.clocks import Clocks
from kernwright.evaluation.timing.race import Race
from kernwright.evaluation.timing.statistics import (
    block_log_ratios,
    blocks_wanted,
    set_log_ratio,
    t_interval,
    t_quantile,
    trend,
    weighted_mean,
)
from kernwright.evaluation.timing.steadiness import unsteady
from kernwright.testing.null import null_timings

false_faster = import_file(Path(__file__).parents[2] / "benchmarks" / "false_faster.py", "false_faster")


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


def test_an_interval_that_asked_for_more_blocks_keeps_its_confidence() -> None:
    rng, hits, plain = random.Random(11), 0, 0
    for _ in range(4000):
        ratios = [rng.gauss(0.0, 0.042) for _ in range(8)]
        ratios += [rng.gauss(0.0, 0.042) for _ in range(min(16, blocks_wanted(ratios, 0.02)) - 8)]
        interval = t_interval(ratios, first=8)
        hits += interval.low <= 1 <= interval.high
        interval = t_interval(ratios)
        plain += interval.low <= 1 <= interval.high
    assert hits / 4000 >= 0.947
    assert plain < hits


def test_blocks_are_wanted_by_the_square_of_what_is_missing() -> None:
    first = [0.01, -0.01] * 4
    half = math.log(t_interval(first).high)
    assert blocks_wanted(first, math.expm1(half * 1.001)) == 8
    assert blocks_wanted(first, math.expm1(half / 2 * 1.001)) == 32


def test_what_comes_late_widens_an_interval_and_never_narrows_it() -> None:
    first = [0.01, -0.01] * 4
    calm = t_interval(first + [0.0] * 8, first=8)
    assert math.log(calm.high) == pytest.approx(math.log(t_interval(first).high) / math.sqrt(2))
    assert t_interval([*first, 0.3, -0.3], first=8).high == t_interval([*first, 0.3, -0.3]).high


def test_a_trend_is_told_from_noise() -> None:
    rng = random.Random(5)
    noise = [[rng.gauss(s, 0.01) for _ in range(8)] for s in range(5)]  # levels of their own say nothing
    assert trend(noise) == 0.0
    drifting = [[y + 0.02 * b for b, y in enumerate(race)] for race in noise]
    assert trend(drifting) == pytest.approx(7 * 0.02, rel=0.1)
    assert trend([[1.0, 2.0]]) == 0.0


def test_nobody_is_called_faster_by_less_than_what_the_baseline_drifted() -> None:
    rng = random.Random(3)
    drift = [math.exp(0.02 * b + rng.gauss(0, 1e-4)) for b in range(8) for _ in range(2)]

    def race(factor: float, speedup: float) -> Timings:
        clocks = {"candidate": [1e6] * 16, "eager": [1e6 * speedup * d**factor for d in drift]}
        taken = {name: [Clocks(t, t, t, t) for t in times] for name, times in clocks.items()}
        found: Timings = false_faster.timings(
            [Race(false_faster.SETTING, frozenset({"eager"}), taken)], replace(QUICK, blocks=8), [1e-4, -1e-4] * 3
        )
        return found

    steady, drifting, far = race(0.0, 1.1), race(1.0, 1.1), race(1.0, 2.0)
    assert steady.faster
    assert steady.drift == 0.0
    assert not list(unsteady([], steady))
    assert drifting.drift == pytest.approx(math.expm1(0.14), rel=0.01)
    assert drifting.speedup.low > 1.005
    assert not drifting.faster
    assert any("drift" in said and "more than" in said for said in unsteady([], drifting))
    assert far.faster


def test_clocks_that_fall_and_throttling_are_named() -> None:
    timings = null_timings(1.1)
    seen = [
        {"SM clock": "1980 MHz", "temperature": "60 °C", "throttled": "no"},
        {"SM clock": "1755 MHz", "temperature": "84 °C", "throttled": "power cap"},
    ]
    assert [said.split(":")[0] for said in unsteady(seen, timings)] == ["clocks", "throttling"]
    assert not list(unsteady(seen[:1] * 2, timings))
    assert not list(unsteady([{"SM clock": "345 MHz", "throttled": "not told (x)"}, seen[0]], timings))


@pytest.mark.parametrize("kind", ["gaussian", "heavy"])
def test_equal_kernels_are_not_called_faster(kind: str) -> None:
    """The committed simulation, smaller: 45 candidates, 3 % block noise, 1 % process effect."""
    noise = false_faster.KINDS[kind](0.03)
    result = false_faster.simulate(noise, 0.01, searches=12, candidates=45, speedup=1.0, seed=1)
    assert result.false_verified.hits == 0
    assert result.quick_pair.share > 0.93
    faster = false_faster.simulate(noise, 0.01, searches=3, candidates=5, speedup=1.5, seed=1)
    assert faster.false_verified.share == 1.0


def test_disturbed_calls_move_no_process_set() -> None:
    """Calls that agree within a per cent, and a quarter of them, in four of eight blocks, that others held up."""
    other = [100.0, 101.0] * 8
    candidate = [50.0, 50.5] * 8
    undisturbed = set_log_ratio(candidate, other)
    for place in (1, 5, 6, 12):
        candidate[place] = 5_000.0
    assert set_log_ratio(candidate, other) == pytest.approx(undisturbed, abs=0.005)
    assert undisturbed == pytest.approx(math.log(2))


def test_a_machine_that_slows_down_moves_no_process_set() -> None:
    drift = [1.02**n for n in range(16)]
    assert set_log_ratio(drift, [2 * d for d in drift]) == pytest.approx(math.log(2))
