"""How long probing one workload in one way may keep the judge busy."""

from collections.abc import Callable
from time import process_time
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT_S, LEAST = 5.0, 2
"""Of processor time of the judge: a candidate that dawdles, or a busy machine, has it probed no less. So many things
are done whatever they take."""


class Spending:
    """Counts the time of what is done inside it, or by functions that it has `counted`."""

    def __init__(self, limit_s: float = LIMIT_S, clock: Callable[[], float] = process_time) -> None:
        self._limit_s, self._clock = limit_s, clock
        self._done, self._spent_s, self._start = 0, 0.0, 0.0

    @property
    def over(self) -> bool:
        """Whether another thing as long as those so far would be too much."""
        return self._done >= LEAST and self._spent_s * (self._done + 1) / self._done > self._limit_s

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
        self._spent_s += self._clock() - self._start
