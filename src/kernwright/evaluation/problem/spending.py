"""How long probing one workload in one way may keep the judge busy."""

from collections.abc import Callable
from time import process_time
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT_S, LEAST = 5.0, 2
"""Of processor time of the judge: a candidate that dawdles, or a busy machine, has it probed no less. So many things
are done whatever they take. Where the processor only waits for a device that others use too, that is nobody's time."""
LOOKS = 50
"""So often within the limit it is looked how much slower others make things now: to look is to wait for the device."""


def alone() -> float:
    """Of a place that nobody shares."""
    return 1.0


class Spending:
    """Counts the time of what is done inside it, or by functions that it has `counted`."""

    def __init__(
        self,
        limit_s: float = LIMIT_S,
        clock: Callable[[], float] = process_time,
        slowed: Callable[[], float] = alone,
    ) -> None:
        """`slowed`: how many times as long as alone things take now."""
        self._limit_s, self._clock, self._slowed = limit_s, clock, slowed
        self._done, self._spent_s, self._start = 0, 0.0, 0.0
        self._latest_s = 0.0
        """Of what was spent, what came since that was looked at."""

    @property
    def over(self) -> bool:
        """Whether another thing as long as those so far would be too much."""
        spent_s = self._spent_s + self._latest_s
        return self._done >= LEAST and spent_s * (self._done + 1) / self._done > self._limit_s

    def __enter__(self) -> None:
        self._start = self._clock()

    def __exit__(self, *_: object) -> None:
        self._done += 1
        self._add()

    def counted(self, function: Callable[..., T]) -> Callable[..., T]:
        """The function, whose time counts as that of the thing before."""

        def call(*arguments: Any) -> T:
            self._start = self._clock()
            try:
                return function(*arguments)
            finally:
                self._add()

        return call

    def _add(self) -> None:
        self._latest_s += self._clock() - self._start
        if self._latest_s * LOOKS > self._limit_s:
            self._spent_s += self._latest_s / max(self._slowed(), 1.0)
            self._latest_s = 0.0
