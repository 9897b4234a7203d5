"""The judge's own time for probes has a limit; what a candidate does meanwhile is not counted."""

from collections.abc import Iterator

import pytest

from kernwright.evaluation.spending import LEAST, Spending


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
