"""Baselines that are by far not the fastest leave a race, and nothing is told by what they took before alone."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

import random  # noqa: E402

from one_line import one_line  # noqa: E402
from racer import Racer  # noqa: E402

from kernwright.core.outcome import Samples, Timings  # noqa: E402
from kernwright.core.plan import FULL, QUICK, Plan  # noqa: E402
from kernwright.core.problem import Workload  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.dependence import charge_dependence  # noqa: E402
from kernwright.evaluation.timing.race import Race, but_for_slow_baselines, settled_after  # noqa: E402
from kernwright.evaluation.timing.summary import Facts, summarise  # noqa: E402
from kernwright.evaluation.timing.track import SLOW_BLOCKS, Track  # noqa: E402

BASELINES = frozenset({"eager", "compile"})
EARLY = 2 * SLOW_BLOCKS
ALL = 2 * QUICK.blocks


def _race(**times_ns: list[float]) -> Race:
    clocks = {name: [Clocks(ns, None, ns, None) for ns in taken] for name, taken in times_ns.items()}
    return Race(cast(Any, None), BASELINES, clocks)


@pytest.mark.parametrize(
    ("eager_ns", "compile_ns", "leaves"),
    [
        ([57e3, 58e3, 90e3, 56e3], [45e3, 44e3, 46e3], {"eager"}),
        ([57e3, 58e3, 90e3, 48e3], [45e3, 44e3, 46e3], set()),
        ([10e3, 11e3, 10e3], [45e3, 44e3, 9e3], set()),
        ([10e3, 11e3, 10e3], [45e3, 44e3, 46e3], {"compile"}),
    ],
)
def test_who_was_never_near_the_fastest_leaves(eager_ns: Any, compile_ns: Any, leaves: set[str]) -> None:
    race = _race(candidate=[200e3], champion=[300e3], eager=eager_ns, compile=compile_ns)
    left = but_for_slow_baselines(race, [cast(Any, Racer(name)) for name in race.clocks])
    assert {racer.name for racer in left} == race.clocks.keys() - leaves


def _samples(setting: Setting, plan: Plan, *, bursts: bool, names: tuple[str, ...]) -> dict[str, int]:
    takes_ns = {"candidate": 40e3, "eager": 60e3, "compile": 45e3}
    session = SimpleNamespace(bursts=bursts, clocks=("device",), memory_bytes=None)
    track = Track(cast(Any, session), plan, random.Random(3), cold=False, probes=False)
    race = track.race(setting, [cast(Any, Racer(name, takes_ns[name])) for name in names], settle=False)
    return {name: len(clocks) for name, clocks in race.clocks.items()}


def test_it_leaves_a_devices_quick_race_after_three_blocks(
    prepared: Callable[..., Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernwright.evaluation.timing.track.sleep", lambda _: None)
    setting, all_of_them = prepared(one_line("x", "torch.randn(8, 16)", "x * 2")), ("candidate", "eager", "compile")
    assert _samples(setting, QUICK, bursts=True, names=all_of_them) == {
        "candidate": ALL,
        "eager": EARLY,
        "compile": ALL,
    }
    assert set(_samples(setting, QUICK, bursts=False, names=all_of_them).values()) == {ALL}
    assert set(_samples(setting, replace(FULL, blocks=8), bursts=True, names=all_of_them).values()) == {ALL}
    assert set(_samples(setting, QUICK, bursts=True, names=all_of_them[1:]).values()) == {ALL}


SLOWER = [1.0] * EARLY + [1.15] * (ALL - EARLY)
"""How a device goes on that gets slower once a baseline has left."""


def _timings(times_ns: dict[str, list[float]]) -> Timings:
    samples = [
        Samples(participant=name, workload="w", process_set=0, device_ns=each, call_ns=each[:EARLY], judge_ns=each)
        for name, each in ((name, tuple(taken)) for name, taken in times_ns.items())
    ]
    facts = Facts(
        workloads=(Workload(name="w"),),
        plan=QUICK,
        copy_ns=(None,),
        floor_ns=(None,),
        aa_log_ratios={"w": (0.002, -0.002) * 3},
        cache="cold",
    )
    return summarise(samples, facts)


def _slowing(ns: float) -> list[float]:
    rng = random.Random(ns)
    return [ns * rng.gauss(1, 0.002) * factor for factor in SLOWER]


def test_one_that_left_before_a_device_became_slow_is_not_the_fastest_then() -> None:
    """Its six times are of the quick while, and so are lower than the fastest one's median."""
    times_ns = {"candidate": _slowing(45e3), "eager": _slowing(50.5e3)[:EARLY], "compile": _slowing(45.01e3)}
    timings = _timings(times_ns)
    assert timings.baseline == "compile"
    assert not timings.faster
    assert timings.speedup_eager is not None
    assert timings.speedup_eager.n == SLOW_BLOCKS
    race = _race(**times_ns)
    assert race.stayed() == ["candidate", "compile"]
    assert settled_after(race, QUICK) == QUICK.blocks


def test_dependence_on_values_is_looked_for_beside_one_that_stayed() -> None:
    race = _race(candidate=[40e3] * ALL, eager=[50.5e3] * EARLY, compile=[factor * 45e3 for factor in SLOWER])
    race.mixed = dict.fromkeys((0, 3, 5, 7), "few")
    for block in race.mixed:
        race.clocks["candidate"][2 * block : 2 * block + 2] = [Clocks(60e3, None, 60e3, None)] * 2
    assert charge_dependence(race, "candidate") > 0.3


@pytest.mark.parametrize(
    ("bursts", "unchecked", "eager_ns", "alike"),
    [
        (True, False, 50e3, False),  # a search has no time for it, and a gate has all calls begin alike
        (True, True, 50e3, True),
        (True, True, 50e6, False),
        (False, False, 50e3, True),
        (False, True, 50e6, False),
    ],
)
def test_before_short_samples_of_others_as_many_calls_are_made(
    bursts: bool, unchecked: bool, eager_ns: float, alike: bool
) -> None:
    session = SimpleNamespace(bursts=bursts)
    track = Track(cast(Any, session), FULL, random.Random(3), cold=False, unchecked=unchecked)
    assert track._short(_race(candidate=[40e3], eager=[eager_ns])) is alike
