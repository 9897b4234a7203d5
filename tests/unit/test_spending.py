"""The judge's own time for probes has a limit; what a candidate does meanwhile is not counted."""

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from kernwright.evaluation.problem.place import place_of
from kernwright.evaluation.problem.spending import LEAST, Spending
from kernwright.platforms.cpu import CpuSession


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _things(spending: Spending, clock: _Clock, own_s: float, others_s: float) -> Iterator[int]:
    for number in range(100):
        if spending.over:
            return
        with spending:
            clock.now += own_s
        clock.now += others_s
        yield number


@pytest.mark.parametrize(("own_s", "done"), [(0.01, 100), (0.5, 10), (1.0, 5), (2.4, 2), (60.0, LEAST)])
def test_as_many_as_fit_and_never_fewer_than_the_least(own_s: float, done: int) -> None:
    clock = _Clock()
    assert len(list(_things(Spending(5.0, clock), clock, own_s, 50.0))) == done


def test_what_a_function_takes_counts_too() -> None:
    clock = _Clock()
    spending = Spending(5.0, clock)

    def slow(number: int) -> int:
        clock.now += 2.0
        return number

    compare = spending.counted(slow)
    assert [compare(number) for number in _things(spending, clock, 0.25, 9.0)] == [0, 1]


def test_waiting_for_a_device_that_others_use_is_not_counted() -> None:
    clock = _Clock()
    spending = Spending(5.0, clock, slowed=lambda: 8.0)
    assert 78 < len(list(_things(spending, clock, 0.5, 0.0))) <= 80
    clock = _Clock()
    assert len(list(_things(Spending(5.0, clock, slowed=lambda: 0.9), clock, 0.5, 0.0))) == 10


def test_a_device_is_asked_how_slow_it_is_for_what_takes_long_alone() -> None:
    clock, asked = _Clock(), list[float]()

    def slowed() -> float:
        asked.append(clock.now)
        return 8.0

    assert len(list(_things(Spending(5.0, clock, slowed), clock, 0.03, 0.0))) == 100
    assert len(asked) == 25  # each time that more than a tenth of a second was spent


def test_a_device_tells_how_slow_it_is_now_and_a_host_is_not_asked() -> None:
    session = CpuSession()
    assert place_of(session).slowed() == 1.0

    class Shared(CpuSession):
        flush_ns = 1e6

        def flush(self) -> None:
            time.sleep(0.01)

    assert 10.0 <= place_of(Shared()).slowed() < 100.0
