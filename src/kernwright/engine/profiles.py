"""Profiles of survivors: each looked at once, when somebody is to build on it or when its writer expected something."""

import asyncio
import contextlib
import platform
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from kernwright.core.brief import Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.events import Faulted, Profiled
from kernwright.core.expectation import expectation_of
from kernwright.core.jobs import EvalJob, Look
from kernwright.core.model import ModelOver, ModelRefused
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.plan import Plan
from kernwright.core.ports import Executor
from kernwright.core.profile import Profile
from kernwright.core.registry import reference
from kernwright.platforms.profilers import TABLE as PROFILERS
from kernwright.search.diagnosis import diagnose, expected_of

from .journal import GaveUp, Journal

_JUDGED = frozenset({"measured", "verified", "checked", "suspicious", "wrong"})
"""What an evaluator says that does not know how to look."""
Second = Callable[[Journal, int, Profile, Diagnosis], Awaitable[Diagnosis]]
"""What a model says beside the rules."""


def look_of(job: EvalJob, look: Look = "run") -> EvalJob:
    """The same candidate, to be looked at in place of being judged."""
    name = job.target.partition(":")[0]
    try:
        profiler = reference("profilers", PROFILERS, name)
    except UserError:
        profiler = ""
    return replace(job, look=look, profiler=profiler, champion=None, champion_language="")


class Profiles:
    """Asks the executor, has the rules say what limits a candidate, and journals both. Nothing here ends a run."""

    def __init__(
        self,
        journal: Journal,
        executor: Executor,
        job: Callable[[Candidate, Plan], EvalJob],
        second: Second | None = None,
        *,
        wanted: bool = True,
    ) -> None:
        """Nothing is looked at unless that is `wanted`."""
        self._journal = journal
        self._executor = executor
        self._job = job
        self._second = second
        self._wanted = wanted
        self._pending: dict[int, asyncio.Event] = {}

    async def of_parents(self, node: int) -> None:
        """Before a brief is made: of what it shows as parents, unless nobody is told."""
        pick = self._journal.graph.node(node).pick
        if pick.intent != "tune":
            await self._of(pick.parents)

    async def of_expectant(self, node: int) -> None:
        """After an evaluation: of a candidate whose writer said which figures it changes; time alone needs no look."""
        draft = self._journal.graph.node(node).draft
        said = draft.expects if isinstance(draft, Proposed) else ()
        if any(expectation_of(text).counter not in ("", "time_ns") for text in said):
            await self._of((node,))

    async def of_told(self, node: int) -> None:
        """After an answer from outside was judged with no engine alive."""
        await self._of((node,))

    async def of_champion(self) -> None:
        """At the end, for whoever looks at the run; not where nobody was told of any."""
        graph = self._journal.graph
        limit, champion = graph.budget.seconds, graph.champion()
        told = any(node.profile is not None for node in graph.nodes)
        if told and champion is not None and (limit is None or graph.spent.seconds < limit):
            await self._of((champion.id,))

    async def _of(self, nodes: Iterable[int]) -> None:
        if not self._wanted or self._executor.slots == 0:
            return
        for number in nodes:
            if self._survived(self._journal.graph.node(number)):
                await self._once(number)

    def _survived(self, node: Node) -> bool:
        measured = node.evaluation is not None and timings_of(node.evaluation.outcome) is not None
        return measured and node.profile is None and node.candidate is not None

    async def _once(self, number: int) -> None:
        if (event := self._pending.get(number)) is not None:
            await event.wait()
            return
        event = self._pending[number] = asyncio.Event()
        try:
            profile = self._known(number) or await self._looked(number)
            if profile is not None:
                self._journal.write(await self._diagnosed(number, profile))
        finally:
            del self._pending[number]
            event.set()

    def _known(self, number: int) -> Profile | None:
        """Of the same source in another place."""
        blob = self._journal.graph.node(number).candidate
        same = (node.profile for node in self._journal.graph.nodes if node.candidate == blob and node.profile)
        return next(same, None)

    async def _looked(self, number: int) -> Profile | None:
        """None where the evaluator is one that does not profile."""
        blob = self._journal.graph.node(number).candidate
        assert blob is not None
        spec = self._journal.spec
        job = look_of(self._job(self._journal.candidate(blob), spec.plan), "code" if spec.profiles == "code" else "run")
        try:
            evaluation = await self._executor.submit(job)
        except (MachineFault, UserError) as error:
            self._journal.write(Faulted(machine=platform.node(), reason=f"profiling: {error}", node=number))
            return Profile(missing=(f"profiling: {error}",))
        if evaluation.profile is not None or evaluation.outcome.kind in _JUDGED:
            return evaluation.profile
        return Profile(missing=(f"profiling: {evaluation.outcome.reason}",))

    async def _diagnosed(self, number: int, profile: Profile) -> Profiled:
        graph = self._journal.graph
        node = replace(graph.node(number), profile=profile)
        diagnosis = diagnose(profile, node.evaluation, expected_of(node, graph.nodes))
        if self._second is not None and diagnosis is not None:
            with contextlib.suppress(ModelOver, ModelRefused, GaveUp, UserError):  # the rules have spoken
                diagnosis = await self._second(self._journal, number, profile, diagnosis)
        return Profiled(node=number, profile=profile, diagnosis=diagnosis)
