"""Which job is done next: one of the most urgent kind, and of those one whose problem the worker has just set up."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence

from .facts import ORDER, Job


class Queue:
    """Jobs that wait. Several workers take from it; each gives a job back as done before it takes the next."""

    def __init__(self, jobs: Sequence[Job], merit: Callable[[Job], float]) -> None:
        """`merit` says which of the tunings go first; it is asked when one is to be chosen."""
        self._waiting = list(jobs)
        self._under_way: list[Job] = []
        self._merit = merit
        self._changed = asyncio.Condition()

    @property
    def count(self) -> int:
        """Jobs that wait or are under way."""
        return len(self._waiting) + len(self._under_way)

    def is_followed(self, job: Job) -> bool:
        """Whether the worker that has this job is to do another such one of the same problem."""
        return any((other.kind, other.problem) == (job.kind, job.problem) for other in self._waiting)

    async def taken(self) -> AsyncIterator[Job]:
        """Jobs for one worker, until none is left that could become its own."""
        last: Job | None = None
        while True:
            async with self._changed:
                if last is not None:
                    self._under_way.remove(last)
                    self._changed.notify_all()
                while (job := self._next(last)) is None and self._waiting:
                    await self._changed.wait()
                if job is None:
                    return
                self._waiting.remove(job)
                self._under_way.append(job)
            last = job
            yield job

    def _next(self, last: Job | None) -> Job | None:
        """None where each job that waits is to follow one that is not done yet."""
        ready = [job for job in self._waiting if not self._follows(job)]
        if not ready:
            return None
        first = min(map(_urgency, ready))
        ready = [job for job in ready if _urgency(job) == first]
        if ready[0].kind == "tune":
            return max(ready, key=self._merit)
        here = [job for job in ready if last is not None and job.problem == last.problem]
        users = Counter(job.problem for job in self._under_way)
        return here[0] if here else min(ready, key=lambda job: users[job.problem])

    def _follows(self, job: Job) -> bool:
        """Whether it tunes a node whose own judgement is still to come."""
        if job.kind != "tune" or job.evaluation is not None:
            return False
        others = (*self._waiting, *self._under_way)
        return any((o.kind, o.run, o.candidate) == ("judge", job.run, job.candidate) for o in others)


def _urgency(job: Job) -> tuple[int, bool]:
    # What is judged now may be better than what is to be confirmed, which takes much longer.
    return ORDER.index(job.kind), job.purpose == "confirm"
