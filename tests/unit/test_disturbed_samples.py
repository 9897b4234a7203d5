"""Which call of several counts where the machine, or the participant, kept the device busy after its end."""

import random
from collections.abc import Iterator
from typing import Any, cast

import pytest

pytest.importorskip("torch")

from kernwright.core.plan import QUICK
from kernwright.evaluation.timing.clocks import Clocks
from kernwright.evaluation.timing.race import Race
from kernwright.evaluation.timing.track import ATTEMPTS, FUTILE, LATE_NS, Track

CALL_NS = 8_000.0


class _Device(Track):
    """Calls come from a list instead of a device."""

    def __init__(self, calls: Iterator[Clocks]) -> None:
        super().__init__(cast(Any, None), QUICK, random.Random(1), False)
        self.calls, self.made = calls, 0

    def _timed(self, *_: Any, **__: Any) -> Clocks:
        self.made += 1
        return next(self.calls)


def call(late_ns: float = 0.0, *, queued: bool = True, device_ns: float = CALL_NS) -> Clocks:
    device_ns += late_ns if late_ns >= LATE_NS else 0.0
    return Clocks(device_ns, None, device_ns, None, late_ns=late_ns, queued=queued)


def sampled(calls: list[Clocks]) -> tuple[float, int]:
    """What counts, and after how many calls."""
    track = _Device(iter(calls))
    race = Race(cast(Any, None), frozenset({"eager"}), {"candidate": [], "eager": []})
    track._sample(race, cast(Any, type("Racer", (), {"name": "eager"})), 0, ["device"], None)
    return race.times_ns("eager")[0], track.made


@pytest.mark.parametrize("first", range(3))
def test_a_machine_that_was_disturbed_once_or_twice_is_not_the_participants_fault(first: int) -> None:
    disturbed = [call(300_000.0 + i) for i in range(first)]
    shown, made = sampled(disturbed + [call()] * ATTEMPTS)
    assert shown == CALL_NS
    assert made == 2 * first + 1


def test_who_leaves_work_behind_every_time_is_charged_with_it() -> None:
    assert sampled([call(50_000.0)] * 9) == (CALL_NS + 50_000.0, ATTEMPTS)
    assert sampled([call(50_000.0), call(), call(50_000.0), call(), call(50_000.0)]) == (CALL_NS + 50_000.0, ATTEMPTS)


def test_the_best_of_several_is_never_taken() -> None:
    assert sampled([call(50_000.0), call(device_ns=1.0), call()])[0] == CALL_NS


def test_calls_that_wait_for_the_device_themselves_are_not_repeated_for_long() -> None:
    assert sampled([call(queued=False)] * 9) == (CALL_NS, FUTILE)
