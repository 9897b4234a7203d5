"""A candidate whose messages others' work held up for a while is timed once more before it is doubted."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402
from racer import Racer  # noqa: E402

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.glances import Glances  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.timing.track import Track  # noqa: E402
from kernwright.evaluation.timing.witness import settle_clocks  # noqa: E402

SHOWN_NS, HELD_UP_NS = 280e3, 2.4e6


class _HeldUp(Racer):
    """Its messages come late in the first so many races."""

    def __init__(self, races: int) -> None:
        super().__init__("candidate", SHOWN_NS)
        self._races, self.raced = races, list[Race]()

    def call(self, workload: int, chosen: int, values: Any, **more: Any) -> tuple[Clocks, list[Any]]:
        outputs = super().call(workload, chosen, values, **more)[1]
        seen = SHOWN_NS + (HELD_UP_NS if len(self.raced) <= self._races else 0.0)
        return Clocks(SHOWN_NS, SHOWN_NS, seen, seen, late_ns=0.0, queued=True), outputs

    def after_block(self, race: Race, _: Any) -> None:
        if all(known is not race for known in self.raced):
            self.raced.append(race)


def _raced(setting: Setting, races: int) -> tuple[_HeldUp, Race]:
    candidate, session = _HeldUp(races), SimpleNamespace(bursts=True, clocks=("device", "call"), memory_bytes=None)
    track = Track(cast(Any, session), QUICK, random.Random(3), cold=False, probes=False)
    racers = cast(Any, [candidate, Racer("eager", SHOWN_NS)])
    race = track.race(setting, racers, settle=False, after_block=candidate.after_block)
    assert len(race.clocks["candidate"]) == 2 * QUICK.blocks
    assert race is candidate.raced[-1]
    return candidate, race


@pytest.fixture
def setting(prepared: Callable[..., Setting]) -> Setting:
    return prepared(one_line("x", "torch.randn(8, 16)", "x * 2"))


@pytest.mark.parametrize(("held_up", "races"), [(-1, 1), (1, 2)])
def test_who_was_held_up_once_is_timed_again(setting: Setting, held_up: int, races: int) -> None:
    candidate, race = _raced(setting, held_up)
    assert len(candidate.raced) == races
    assert settle_clocks(race, "eager", "candidate", charge=False) is None


def test_who_shows_too_little_every_time_is_not_believed(setting: Setting) -> None:
    candidate, race = _raced(setting, 9)
    assert len(candidate.raced) == 2
    assert "280.0 µs a call where the judge's saw 2680.0 µs" in str(settle_clocks(race, "eager", "candidate"))


def test_what_was_looked_at_meanwhile_says_nothing_of_what_counts(setting: Setting) -> None:
    candidate, race = _raced(setting, 1)
    track = Track(cast(Any, None), QUICK, random.Random(3), cold=False)
    glances = Glances(random.Random(1), Rules(), track, lambda *_: None)
    glances._begun(candidate.raced[0]).weights.after.append(race.clocks["eager"][0])
    assert glances.later(race, cast(Any, candidate), cast(Any, candidate)) == []
