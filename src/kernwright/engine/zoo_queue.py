"""In which order kernels of the zoo are judged: a judge that keeps its problem need not warm another's baselines."""

from collections import Counter
from collections.abc import Iterable

from kernwright import zoo


class Queue:
    """Members that wait, for several judges at a time."""

    def __init__(self, members: Iterable[zoo.Member]) -> None:
        self._waiting = list(members)
        self._under_way: Counter[str] = Counter()

    def next_after(self, last: zoo.Member | None) -> zoo.Member | None:
        """One of the same problem as the last where there is one; else of the problem with the most waiting for each
        judge that is at it already. None where nobody waits.
        """
        if not self._waiting:
            return None
        waiting = Counter(member.problem for member in self._waiting)
        problem = last.problem if last is not None else ""
        if problem not in waiting:
            problem = max(waiting, key=lambda name: waiting[name] / (1 + self._under_way[name]))
        member = next(member for member in self._waiting if member.problem == problem)
        self._waiting.remove(member)
        self._under_way[problem] += 1
        return member

    def done(self, member: zoo.Member) -> None:
        """It was judged."""
        self._under_way[member.problem] -= 1
