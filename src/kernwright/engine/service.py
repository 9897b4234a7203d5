"""What the command line and the Python door do with runs. Every function blocks until it is done."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path

from kernwright import __version__
from kernwright.core.brief import Brief
from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError
from kernwright.core.events import Evaluated, Resumed, RunStarted
from kernwright.core.graph import Graph, fold
from kernwright.core.problem import Problem
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore

from . import asking, wiring
from .earlier_runs import seeds_for, with_seeds
from .journal import Journal, Observe
from .learning import learn
from .shelves import changes, frozen

Say = Callable[[str], None]
GIVEN = OperatorSpec(name="given")
EARLIER = OperatorSpec(name="earlier")
PATIENCE_S = 2.0
"""For which an engine waits for the run: a command that steers it, or asks it for a brief, holds it for a moment."""


def create(home: Path, spec: RunSpec, problem: Problem, start: Sequence[Candidate] = ()) -> str:
    """A new run that has not begun; its id. Candidates to start from are proposed before all else.

    Raises:
        UserError: the spec names something that is not there.
    """
    if start and all(operator.name != GIVEN.name for operator in spec.operators):
        spec = replace(spec, operators=(GIVEN, *spec.operators))
    wiring.check(spec)
    with closing(SqlStore(home)) as store:
        knowledge = frozen(home, spec, store)
        seeds = seeds_for(store, spec, problem)
        if seeds and all(operator.name != EARLIER.name for operator in spec.operators):
            spec = replace(spec, operators=with_seeds(spec.operators))
        run = store.create_run(problem.name)
        blobs = tuple(store.put(encode_candidate(candidate)) for candidate in start)
        store.append(
            run,
            RunStarted(
                spec=spec, problem=problem, start=blobs, seeds=seeds, knowledge=knowledge, kernwright=__version__
            ),
        )
    return run


def drive(
    home: Path,
    run: str,
    *,
    resume: bool,
    budget: Budget | None = None,
    until: float | None = None,
    patience: int | None = None,
    observe: Observe | None = None,
    progress: Say | None = None,
    announce: Say | None = None,
) -> Graph:
    """Run the search to an ending; the state it left.

    Fields of `budget` that are given replace the run's, the others stay; so with `until` and
    `patience`. `progress` gets what evaluators say of themselves, `observe` every event, and `announce`
    (else `progress`) what a person should know or do: which briefs wait, what was kept for other runs.

    Raises:
        RunLocked: another engine holds the run, and for longer than a command that steers it would.
        UserError: `resume` is false and the run has begun, or the problem or a setting is at fault.
        MachineFault: the machine failed; the journal is intact and the run can be resumed.
        KeyboardInterrupt: likewise, after Ctrl-C.
    """
    say = announce or progress or _silent
    with opened(home) as store:
        run = store.resolve_run(run)
        with store.lock(run, PATIENCE_S):
            journal = Journal(store, run, observe)
            graph = journal.graph
            if graph.seq > 1 and not resume:
                raise UserError(f"Run {run} has begun already; go on with it by: kernwright resume {run}")
            if graph.seq > 1 or budget or until is not None or patience is not None:
                extended = _extended(graph.budget, budget or Budget())
                until = graph.until if until is None else until
                patience = graph.patience if patience is None else patience
                journal.write(Resumed(budget=extended, until=until, patience=patience, baselines_again=resume))
            if resume and (changed := changes(journal.spec)):
                say(changed)
            graph = asyncio.run(_driven(store, journal, home, progress or _silent, say))
            learn(journal, home, say)
            return graph


def load(home: Path, run: str) -> Graph:
    """The state of a run, as far as its journal goes. Takes no lock."""
    with opened(home) as store:
        return fold(store.events(store.resolve_run(run)))


def ask(home: Path, run: str) -> Brief:
    """The oldest brief that nobody has answered; a new one where there is none and no engine is alive.

    Raises:
        UserError: the run has no mailbox, an engine is alive and has none open (`NotYet`), or nothing is left to ask.
    """
    with opened(home) as store:
        return asking.ask(store, store.resolve_run(run))


def place(home: Path, run: str, parent: int | None = None) -> int:
    """A new place in the graph, to be answered by `tell`, for a candidate that no brief asked for: a start, or what
    was made of the candidate of a node, its `parent`.

    Raises:
        UserError: the run has no mailbox or no proposal left, an engine is alive, or there is no such candidate.
    """
    with opened(home) as store:
        return asking.place(store, store.resolve_run(run), parent)


def tell(
    home: Path,
    run: str,
    node: int,
    candidate: Candidate,
    author: str = "",
    summary: str = "",
    expects: Sequence[str] = (),
    insights: Sequence[str] = (),
    observe: Observe | None = None,
    progress: Say | None = None,
    later: bool = False,
) -> Evaluated | None:
    """Answer the brief of a node. None where an engine is alive, which will evaluate the candidate, and where
    the evaluation waits: `later`, or a run that is judged elsewhere.

    Raises:
        UserError: the run has no mailbox, the node is unknown or has its answer, or `later` with an engine alive.
    """
    with opened(home) as store:
        return asking.tell(
            store,
            store.resolve_run(run),
            home,
            asking.Answer(node, candidate, author, summary, tuple(expects), tuple(insights), later),
            observe,
            progress,
        )


def _extended(old: Budget, new: Budget) -> Budget:
    given = {f.name: value for f in fields(new) if (value := getattr(new, f.name)) is not None}
    return replace(old, **given)


async def _driven(store: SqlStore, journal: Journal, home: Path, progress: Say, say: Say) -> Graph:
    async with wiring.executor_of(journal.spec, home, progress) as executor, wiring.calls_of(journal) as calls:
        return await wiring.loop_of(journal, store, executor, home, calls, say).run()


@contextmanager
def opened(home: Path) -> Iterator[SqlStore]:
    """The store of a home that has one; raises UserError where it has none."""
    store = SqlStore.open_existing(home)
    if store is None:
        raise UserError(f"There are no runs in {home}; begin one with `kernwright evolve PROBLEM`.")
    try:
        yield store
    finally:
        store.close()


def _silent(text: str) -> None:
    pass
