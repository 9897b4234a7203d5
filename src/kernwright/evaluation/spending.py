"""How long probing one workload in one way may keep the judge busy."""

from time import perf_counter

LIMIT_S = 6.0
"""Of the judge's own time, a candidate's calls left out: one that dawdles is probed no less."""


class Spending:
    """Counts what is done inside it; the first of several things to do is always within the limit."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s, self._spent_s, self._longest_s, self._start = limit_s, 0.0, 0.0, 0.0

    @property
    def over(self) -> bool:
        """Whether another like the longest so far would be too much."""
        return self._spent_s + self._longest_s > self._limit_s

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        took_s = perf_counter() - self._start
        self._spent_s += took_s
        self._longest_s = max(self._longest_s, took_s)
