"""What comes before a sample: as many calls and as long a rest for everybody, since caches forget."""

import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice, repeat
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402
from racer import Racer  # noqa: E402

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.evaluation.probes.distributions import probes as of  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import track as track_module  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.timing.track import REST_NS, SHORT_NS, Track  # noqa: E402

PROBES = 3
SHORT, LONG = 10e3, 2 * SHORT_NS


@pytest.fixture
def raced(prepared: Callable[..., Setting], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, list[float]]]:
    def make(takes_ns: float, *, bursts: bool = False, probes: bool = True) -> tuple[Any, list[float]]:
        rests: list[float] = []
        monkeypatch.setattr(track_module, "sleep", rests.append)
        monkeypatch.setattr(track_module, "perf_counter_ns", lambda: 0)
        setting = prepared(one_line("x", "torch.randn(8, 16)", "x * 2"))
        asked = [partial(next, repeat(probe)) for probe in islice(of(setting, random.Random(1)), PROBES)]
        monkeypatch.setattr(track_module, "kept_probes", lambda *_: asked)
        monkeypatch.setattr(track_module, "made_late", lambda *_, **__: [])
        session = SimpleNamespace(bursts=bursts, clocks=("device",), memory_bytes=None)
        racers = [Racer("candidate", takes_ns), Racer("eager", takes_ns)]
        track = Track(cast(Any, session), QUICK, random.Random(3), cold=False, probes=probes)
        track.race(setting, cast(Any, racers), settle=False)
        return racers, rests

    return make


def test_somebody_elses_samples_come_after_as_many_calls(raced: Callable[..., Any]) -> None:
    """Each has two samples a block; what the others are called beyond these goes with the candidate's probes."""
    samples = 2 * QUICK.blocks
    (candidate, eager), _ = raced(SHORT)
    assert len(candidate.given) >= samples + PROBES
    assert len(eager.given) == samples + PROBES
    for more in ({"takes_ns": LONG}, {"takes_ns": SHORT, "bursts": True}, {"takes_ns": SHORT, "probes": False}):
        assert len(raced(**more)[0][1].given) == samples


def test_nobody_is_called_sooner_after_the_call_before(raced: Callable[..., Any]) -> None:
    (_, eager), rests = raced(SHORT)
    assert set(rests) == {REST_NS / 1e9}
    assert len(rests) >= len(eager.given)
    assert len(raced(LONG, probes=False)[1]) <= 2  # of the first ones nobody knew
    assert raced(SHORT, bursts=True)[1] == []


def test_values_are_made_for_each_call_of_anybodys(raced: Callable[..., Any]) -> None:
    """Making them takes time. Behind a gate a baseline has the same ones for a block."""
    for bursts, new in ((False, 2 * QUICK.blocks), (True, QUICK.blocks)):
        (_, eager), _ = raced(SHORT, bursts=bursts, probes=False)
        assert len({id(each) for each in eager.given}) == new


def test_it_counts_how_long_a_baselines_latest_call_took(prepared: Callable[..., Setting]) -> None:
    track = Track(cast(Any, SimpleNamespace(bursts=False)), QUICK, random.Random(1), False)
    of = lambda ns: [Clocks(1.0, None, 1.0, None), Clocks(ns, None, ns, None)]  # noqa: E731
    for eager, candidate, short in ((SHORT, LONG, True), (LONG, SHORT, False)):
        race = Race(cast(Any, None), frozenset({"eager"}), {"candidate": of(candidate), "eager": of(eager)})
        assert track._short(race) is short


def test_pages_for_results_are_at_hand_in_a_new_process() -> None:
    """In a process of its own, since a heap has its history. As in a runner two results are kept beside the next."""
    look = (
        "import resource, torch; from kernwright.platforms.cpu_runtime import CpuRuntime\n"
        "runtime, x = CpuRuntime(1), torch.randn(512, 2048)\n"
        "if {reserves}: runtime.reserve([4 << 20, 1 << 40])\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "torch.cumsum(x, 1); before, given, found = [], [], faults()\n"
        "for _ in range(24): y = torch.cumsum(x, 1); before, given = given, [y]; del y\n"
        "print(faults() - found)"
    )
    pages = (4 << 20) // 4096
    assert _printed(look.format(reserves=False)) > 2 * pages
    assert _printed(look.format(reserves=True)) < pages / 4


def _printed(code: str) -> int:
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
