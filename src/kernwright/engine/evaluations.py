"""Evaluations of one run: bounded, journalled, and done once for identical source."""

import asyncio
from collections.abc import Callable

from kernwright.core.candidate import Candidate
from kernwright.core.events import Evaluated
from kernwright.core.jobs import EvalJob, Purpose, evaluation_key
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import Plan
from kernwright.core.ports import Executor, Fitness

from .journal import Journal


class Evaluations:
    """Asks the executor and journals what it says."""

    def __init__(
        self,
        journal: Journal,
        executor: Executor,
        fitness: Fitness,
        job: Callable[[Candidate, Plan], EvalJob],
    ) -> None:
        self._journal = journal
        self._executor = executor
        self._fitness = fitness
        self._job = job
        self.allowed: Callable[[], bool] = lambda: True
        """Whether the budget has room for one more trial."""
        self._slots = asyncio.Semaphore(journal.spec.evaluations_in_flight)
        self._pending: dict[tuple[str, bool], asyncio.Event] = {}
        self.running: set[int] = set()
        """Nodes whose evaluation for search or confirmation is at the executor."""
        self.trials = 0
        """Trials that are under way."""
        self.here = executor.slots > 0
        """Whether anything can be evaluated; else nodes wait until their results are brought."""

    async def of(self, node: int, purpose: Purpose) -> Evaluated | None:
        """Evaluate the candidate of a node that has one; the event that says so, None where that is done elsewhere."""
        blob = self._journal.graph.node(node).candidate
        assert blob is not None
        spec = self._journal.spec
        plan, candidate = spec.confirm_plan if purpose == "confirm" else spec.plan, self._journal.candidate(blob)
        key = evaluation_key(candidate.id, self._journal.problem_id, plan)
        if not self.here and self._found(key, tuning=False) is None:
            return None
        return await self._shared(node, candidate, plan, purpose)

    async def trial(self, node: int, candidate: Candidate) -> Evaluation | None:
        """Evaluate for the tuning of a node; None once a budget is spent.

        A search never takes over a trial's figures: the best of many trials is partly luck,
        so the winner is measured on fresh data.
        """
        plan = self._journal.spec.plan
        found = self._found(evaluation_key(candidate.id, self._journal.problem_id, plan), tuning=True)
        if found is not None:
            return found.evaluation
        if not self.allowed():
            return None
        self.trials += 1
        try:
            return (await self._shared(node, candidate, plan, "tune")).evaluation
        finally:
            self.trials -= 1

    async def _shared(self, node: int, candidate: Candidate, plan: Plan, purpose: Purpose) -> Evaluated:
        key, tuning = evaluation_key(candidate.id, self._journal.problem_id, plan), purpose == "tune"
        while (found := self._found(key, tuning)) is None and (event := self._pending.get((key, tuning))) is not None:
            await event.wait()
        if found is None:
            done = self._pending[key, tuning] = asyncio.Event()
            try:
                return await self._executed(node, self._job(candidate, plan), key, purpose)
            finally:
                del self._pending[key, tuning]
                done.set()
        return found if tuning else self._write(node, purpose, key, found.evaluation, reused=True)

    async def _executed(self, node: int, job: EvalJob, key: str, purpose: Purpose) -> Evaluated:
        async with self._slots:
            if purpose != "tune":
                self.running.add(node)
            try:
                evaluation = await self._journal.retried(node, lambda: self._executor.submit(job))
                return self._write(node, purpose, key, evaluation)
            finally:
                self.running.discard(node)

    def _found(self, key: str, tuning: bool) -> Evaluated | None:
        found = self._journal.graph.evaluations.get(key)
        return found if found is not None and (tuning or found.purpose != "tune") else None

    def _write(self, node: int, purpose: Purpose, key: str, evaluation: Evaluation, reused: bool = False) -> Evaluated:
        score = self._fitness.score(evaluation)
        event = Evaluated(node=node, purpose=purpose, key=key, score=score, evaluation=evaluation, reused=reused)
        self._journal.write(event)
        return event
