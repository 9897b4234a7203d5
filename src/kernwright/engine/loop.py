"""The search loop: pick, propose, evaluate; each step an event in the journal."""

import asyncio
import random
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kernwright.core.brief import Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import Drafted, Picked, RunFinished
from kernwright.core.graph import Graph
from kernwright.core.ports import Operator, Policy
from kernwright.core.spec import Spent
from kernwright.search.termination import affordable, impatient, overtime, promising, reached, unconfirmed_top

from .answers import Answers
from .briefs import brief_of
from .evaluations import Evaluations
from .journal import GaveUp, Journal
from .profiles import Profiles

CONFIRMATIONS = 3
"""How many nodes are confirmed at the end, at most, while the first keeps falling behind the second."""


class Loop:
    """One engine's work on one run. Nothing waits for a generation to end."""

    def __init__(
        self,
        journal: Journal,
        policy: Policy,
        operator: Operator,
        evaluations: Evaluations,
        answers: Answers,
        profiles: Profiles,
    ) -> None:
        self._journal = journal
        self._policy = policy
        self._operator = operator
        self._evaluations = evaluations
        self._answers = answers
        self._profiles = profiles
        self._proposing = asyncio.Semaphore(journal.spec.proposals_in_flight)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._failed: BaseException | None = None
        self._stuck: UserError | GaveUp | None = None
        self._changed = asyncio.Event()
        self._began = time.monotonic()
        self._seconds = journal.graph.spent.seconds

    async def run(self) -> Graph:
        """Until an ending is reached.

        Raises:
            MachineFault: the machine failed at every attempt; the journal is intact.
            UserError: the problem, a setting or every model is at fault. What was proposed is judged before.
        """
        graph = self._journal.graph
        self._answers.deliver()
        self._spawn(-1, self._answers.watch())
        try:
            for node in affordable(graph):
                if node.draft is not None or node.pick.intent not in graph.exhausted:
                    self._spawn(node.id, self._grow(node.id))
            reason = await self._search()
            await self._wind_up()
            await self._confirm()
            await self._profiles.of_champion()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        champion = graph.champion()
        self._journal.write(RunFinished(reason=reason, champion=champion.id if champion else None))
        return graph

    def room_for_trial(self) -> bool:
        """Whether the budget has an evaluation to spare beside those that open nodes will need."""
        budget, spent = self._journal.graph.budget, self.spent()
        if replace(spent, proposals=0).exceeds(replace(budget, proposals=None)):
            return False
        return budget.evaluations is None or spent.evaluations + self._reserved() < budget.evaluations

    def spent(self) -> Spent:
        """What is spent by now, the time since the last event included."""
        return replace(self._journal.graph.spent, seconds=self._seconds + time.monotonic() - self._began)

    async def _search(self) -> str:
        graph = self._journal.graph
        while True:
            self._changed.clear()
            if self._failed is not None:
                raise self._failed
            spent = self.spent()
            ended = reached(graph, graph.until) or impatient(graph.stale, graph.patience)
            if ended := ended or overtime(spent, graph.budget):
                return ended
            over = spent.exceeds(graph.budget)
            if over is None and self._stuck is None:
                self._open()
            best = promising(graph, graph.until, self._journal.spec.confirm_plan) if self._evaluations.here else None
            if best and best.id not in self._tasks:
                self._spawn(best.id, self._evaluate(best.id))
            if len(self._tasks) == 1:
                if self._stuck is not None:
                    raise self._stuck
                left = "nothing left to try" if self._evaluations.here else "nothing left to propose here"
                return over or graph.over or left
            limit = graph.budget.seconds
            with suppress(TimeoutError):
                async with asyncio.timeout(None if limit is None else max(0.0, limit - spent.seconds)):
                    await self._changed.wait()

    def _open(self) -> None:
        """Open as many nodes as fit. One pick at a time, so that each is a function of the journal before it."""
        graph, spec = self._journal.graph, self._journal.spec
        while self._fits(graph):
            node = len(graph.nodes)
            picks = self._policy.pick(graph, 1, random.Random(f"{spec.seed}:{node}"))
            if not picks or picks[0].intent in graph.exhausted:
                return
            self._journal.write(Picked(node=node, pick=picks[0]))
            self._spawn(node, self._grow(node))

    def _fits(self, graph: Graph) -> bool:
        spec, budget, spent = self._journal.spec, graph.budget, graph.spent
        flying = graph.in_flight()
        if sum(node.draft is None for node in flying) >= spec.proposals_in_flight:
            return False
        # A longer queue would only make policies choose from older knowledge.
        if len(flying) >= spec.proposals_in_flight + spec.evaluations_in_flight:
            return False
        if spent.exceeds(replace(budget, evaluations=None, seconds=None)):
            return False
        return budget.evaluations is None or spent.evaluations + self._reserved() < budget.evaluations

    def _reserved(self) -> int:
        return len(self._journal.graph.in_flight()) + self._evaluations.trials

    async def _grow(self, node: int) -> None:
        graph = self._journal.graph
        if graph.node(node).draft is None:
            async with self._proposing:
                await self._profiles.of_parents(node)
                try:
                    self._journal.write(await self._journal.retried(node, lambda: self._drafted(node)))
                except (UserError, GaveUp) as fault:
                    if self._stuck is None:
                        self._stick(fault)
                    return
            self._answers.settled(node)
            self._changed.set()
        if isinstance(graph.node(node).draft, Proposed):
            await self._evaluations.of(node, "search")
            await self._profiles.of_expectant(node)

    async def _drafted(self, node: int) -> Drafted:
        brief = brief_of(self._journal, node)
        return Drafted(node=node, draft=await self._operator.propose(brief), told=brief.told)

    def _stick(self, fault: UserError | GaveUp) -> None:
        """Nothing more is proposed; nodes that have no draft yet are left to a resume."""
        how = f"What was proposed before is judged; go on with: kernwright resume {self._journal.run}"
        self._stuck = UserError(f"{fault} {how}") if isinstance(fault, UserError) else fault
        for node in self._journal.graph.in_flight():
            if node.draft is None and node.id in self._tasks and self._tasks[node.id] is not asyncio.current_task():
                self._tasks[node.id].cancel()

    async def _evaluate(self, node: int) -> None:
        await self._evaluations.of(node, "confirm")

    def _spawn(self, key: int, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks[key] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and task.exception() is not None:
            self._failed = self._failed or task.exception()
        self._changed.set()

    async def _wind_up(self) -> None:
        """Let the evaluations that are running end; everything else is taken up again by a resume."""
        for key, task in self._tasks.items():
            if key not in self._evaluations.running:
                task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._failed is not None:
            raise self._failed

    async def _confirm(self) -> None:
        for _ in range(CONFIRMATIONS):
            top = unconfirmed_top(self._journal.graph, self._journal.spec.confirm_plan)
            if top is None or await self._evaluations.of(top.id, "confirm") is None:
                return
