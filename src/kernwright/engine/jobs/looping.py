"""Jobs that loop: a run of its own in a scratch folder, by the engine's loop, operators and evaluations."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

from kernwright import __version__
from kernwright.core.brief import Pick, Proposed, Unusable
from kernwright.core.candidate import Candidate
from kernwright.core.events import Drafted, Entry, Evaluated, Event, Picked, Resumed, RunStarted
from kernwright.core.graph import Graph
from kernwright.core.jobs import JUDGE_VERSION, evaluation_key
from kernwright.core.ports import Executor
from kernwright.core.problem import Problem
from kernwright.core.spec import Budget, RunSpec, Spent
from kernwright.engine import wiring
from kernwright.engine.journal import Journal
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore

from .exporting import name_of
from .facts import Result

PARENT, CHILD = 0, 1
"""Nodes of a tuning: the one that is tuned, and what comes of it."""
EVERY = 1_000_000_000


class Looping:
    """A seeds or tune job. `keep` gets the result after each event, so that a kill loses nothing that was finished."""

    def __init__(
        self, begun: Result, problem: Problem, parent: Candidate | None, keep: Callable[[Result], None]
    ) -> None:
        """`begun` is what was done of the job before; `parent` the candidate to tune."""
        self._job = begun.job
        self._problem = problem
        self._parent = parent
        self._keep = keep
        self._events = list(begun.events)
        self._candidates = {candidate.id: candidate for candidate in begun.candidates}
        self._before_s = begun.seconds

    async def run(self, executor: Executor, slots: int, budget: Budget, home: Path) -> Result:
        """To the loop's end; `budget` is what it may still spend.

        Raises:
            MachineFault: the machine failed at every attempt.
            UserError: the problem or a setting is at fault.
        """
        with (
            tempfile.TemporaryDirectory(prefix="kernwright-job-") as scratch,
            closing(SqlStore(Path(scratch))) as store,
        ):
            run = self._job.run
            store.append(run, RunStarted(spec=self._spec(slots), problem=self._problem, kernwright=__version__))
            for candidate in (self._parent, *self._candidates.values()):
                if candidate is not None:
                    store.put(encode_candidate(candidate))
            for event in (*self._presets(), *self._events):
                store.append(run, event)
            journal = Journal(store, run, lambda entry, graph: self._observe(journal, entry, graph))
            journal.write(Resumed(budget=_raised(budget, journal.graph.spent)))
            graph = await wiring.loop_of(journal, store, executor, home).run()
            return self._result(graph, complete=self._complete(graph))

    def _spec(self, slots: int) -> RunSpec:
        # The best is confirmed by a job of its own, once it is known among all of the run's nodes.
        spec = self._job.spec
        return replace(
            spec,
            policy="best_of_n",
            policy_settings={"n": EVERY if self._job.kind == "seeds" else 0},
            confirm_plan=spec.plan,
            budget=Budget(),
            evaluations_in_flight=slots,
        )

    def _presets(self) -> Iterator[Event]:
        """What the run knew before the job, numbered as the job's own nodes are."""
        job = self._job
        for node, item in enumerate(job.used):
            draft = Unusable(operator=name_of(job.spec.operators[0]), item=item, reason="proposed before")
            yield Picked(node=node, pick=Pick())
            yield Drafted(node=node, draft=draft)
        if job.kind != "tune":
            return
        assert self._parent is not None
        assert job.evaluation is not None
        key = evaluation_key(self._parent.id, self._problem.id, job.spec.plan)
        yield Picked(node=PARENT, pick=Pick())
        yield Drafted(node=PARENT, draft=Proposed(candidate=job.candidate, operator="given", item=job.candidate))
        yield Evaluated(
            node=PARENT,
            purpose="search",
            key=key,
            score=wiring.fitness_of(job.spec).score(job.evaluation),
            evaluation=job.evaluation,
            reused=True,
        )
        yield Picked(node=CHILD, pick=Pick(parents=(PARENT,), intent="tune"))
        yield from (replace(trial, node=CHILD) for trial in job.known)

    def _observe(self, journal: Journal, entry: Entry, graph: Graph) -> None:
        event = entry.event
        if not isinstance(event, Picked | Drafted | Evaluated):
            return
        self._events.append(event)
        if isinstance(event, Drafted) and isinstance(event.draft, Proposed):
            candidate = journal.candidate(event.draft.candidate)
            self._candidates[candidate.id] = candidate
        if not isinstance(event, Picked):
            self._keep(self._result(graph, complete=False))

    def _complete(self, graph: Graph) -> bool:
        return "start" in graph.exhausted if self._job.kind == "seeds" else not graph.node(CHILD).in_flight

    def _result(self, graph: Graph, *, complete: bool) -> Result:
        return Result(
            job=self._job,
            judge_version=JUDGE_VERSION,
            kernwright=__version__,
            complete=complete,
            events=tuple(self._events),
            candidates=tuple(self._candidates.values()),
            seconds=graph.spent.seconds + self._before_s,
        )


def _raised(budget: Budget, spent: Spent) -> Budget:
    """The budget, what is spent already not counted."""
    limits = {f.name: getattr(budget, f.name) for f in fields(budget)}
    return Budget(**{name: None if n is None else n + getattr(spent, name) for name, n in limits.items()})
