"""Whether processes that are stopped stay so: a timer, for one, can send them the signal to go on."""

import time
from collections.abc import Iterable

from kernwright.evaluation.runner import tree

from .proc import used_ns

LEAVES_NS, LEFT_NS = 20_000, 50_000_000
"""A thread that was seen stopped leaves its core in less than this, or later where the machine has other work first."""
STILL_NS, MUCH_NS, STIRS = 100_000, 10_000_000, 3
"""Processor time that may be counted of what is stopped: always, and a few times, of one that took long to leave."""


class Stillness:
    """Of one runner's processes, by their processor time."""

    def __init__(self) -> None:
        self._since: dict[int, int] = {}
        self._left: dict[int, int] = {}
        """What they had had when they were last let go on."""
        self._stirred = 0

    def begin(self, pids: Iterable[int], but: int = 0) -> int:
        """These were seen stopped. What all `but` one of them had since they were last let go on.

        The kernel says so a little before they leave their cores, and counts only then what they did last. Of the first
        thread it tells when that is, which most often is the one that ran; asking each takes as long as a short call.
        """
        pids = list(pids)
        for pid in pids:
            tree.await_left(pid)
        self._since = {pid: used_ns(pid) for pid in pids}
        end = time.monotonic_ns() + LEFT_NS
        while time.monotonic_ns() < end:
            before, again = self._since, time.monotonic_ns() + LEAVES_NS
            while time.monotonic_ns() < again:
                pass
            self._since = self._now()
            if self._since == before:
                break
        had = self._since.items()
        return sum(max(0, now - self._left.get(pid, 0)) for pid, now in had if pid != but)

    def end(self) -> None:
        """They go on."""
        self._since, self._left = {}, self._since

    def broken_ns(self) -> int:
        """Processor time since, where that is more than can be excused; else 0."""
        now = self._now()
        ran_ns = sum(max(0, now[pid] - before) for pid, before in self._since.items())
        if ran_ns <= STILL_NS:
            return 0
        self._since, self._stirred = now, self._stirred + 1
        return ran_ns if ran_ns > MUCH_NS or self._stirred > STIRS else 0

    def _now(self) -> dict[int, int]:
        return {pid: used_ns(pid) for pid in self._since}
