"""One run for each of many problems, and what came of them. A problem's failure is a row, never the end."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Protocol

from kernwright import __version__
from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault, RunLocked, UserError, unknown_name
from kernwright.core.events import Resumed
from kernwright.core.graph import Graph, fold
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.ports import Executor
from kernwright.core.problem import Problem, Rules
from kernwright.core.report import ProblemReport
from kernwright.core.spec import Budget, RunSpec
from kernwright.problems import kernelbench
from kernwright.store.disk import made_writable
from kernwright.store.sql import SqlStore

from . import intake, service, wiring
from .bench_ledger import Begun, Ledger, Refused, Settings, opened
from .bench_report import NOT_RUN, BenchReport, Row, is_degenerate, notes_of, row_of, totals, write
from .examining import brought_report, examine, known_report
from .jobs.exporting import unsettled
from .journal import Journal, Observe
from .targets import here


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One problem to be benched."""

    key: str
    """Its name in the report; the same wherever its files lie."""
    id: str
    """What `intake.problem_of` takes."""
    start: tuple[Path, ...] = ()
    """Candidates that its run begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is to be done."""

    home: Path
    name: str
    settings: Settings
    items: tuple[Item, ...]
    out: Path
    """Folder that gets the report, anew after each problem."""
    examine: bool = True
    """Whether to look at each problem for degeneracy first; what was found is kept in the home."""
    retry: bool = False
    """Whether to try again what was refused."""


@dataclass(frozen=True, slots=True)
class Follower:
    """Who is told of one run."""

    observe: Observe
    """Gets every event."""
    say: Callable[[str], None]
    """Gets what evaluators say of themselves."""


class Watch(Protocol):
    """Whoever watches a bench."""

    def begins(self, number: int, total: int, key: str) -> None: ...
    def looks(self) -> AbstractContextManager[Callable[[str], None]]:
        """Around the look at a problem; what it gives is told each stage."""

    def follows(self, run: str) -> AbstractContextManager[Follower]:
        """Around a run."""

    def ended(self, row: Row, report: BenchReport) -> None:
        """A problem has come to its end."""


def items_of(
    source: str, path: str, levels: Sequence[int] | None, problems: str | None, candidates: Path | None
) -> tuple[Item, ...]:
    """Problems of a source by level, number and name, with candidates from a folder where one is given.

    Raises:
        UserError: there is no such source, path, level, problem or folder.
    """
    if source != kernelbench.KernelBench.name:
        raise unknown_name("source of problems for a bench,", source, [kernelbench.KernelBench.name])
    if candidates is not None and not candidates.is_dir():
        raise UserError(f"There is no folder {candidates}; give one with files such as level1/19_mine.py.")
    return tuple(
        Item(
            key=entry.key,
            id=f"{source}:{entry.id}",
            start=kernelbench.candidate_files(candidates, entry) if candidates is not None else (),
        )
        for entry in kernelbench.select(path, levels, problems)
    )


def given_first(spec: RunSpec, *, alone: bool) -> RunSpec:
    """The settings under which candidates that are given are judged, before any operator is asked, if one is."""
    others = () if alone else tuple(each for each in spec.operators if each.name != service.GIVEN.name)
    return replace(spec, operators=(service.GIVEN, *others))


def bench(asked: Bench, watch: Watch) -> BenchReport:
    """Do what is left to do of a bench; the report over all problems asked for.

    Raises:
        RunLocked: another process works on the bench.
        UserError: it was begun with other settings, a problem that has its run has changed since, or the report
            cannot be written.
        KeyboardInterrupt: after Ctrl-C; what was finished is kept.
    """
    intake.require_rules(asked.settings.rules)
    wiring.check(asked.settings.spec)
    made_writable(asked.out, chosen_by="--out")  # before the ledger holds the bench to its settings
    with opened(asked.home, asked.name) as ledger, closing(SqlStore(asked.home)) as store:
        ledger.settle(asked.name, asked.settings)
        with engine_for(asked.settings.spec, asked.home, store) as engine:
            return _Work(asked, ledger, engine, watch).done()


def report_of(asked: Bench, rows: Sequence[Row]) -> BenchReport:
    """The report over these rows."""
    spec, rules = asked.settings.spec, asked.settings.rules
    degenerate = {row.problem: tuple(f.sentence for f in row.findings or ()) for row in rows if is_degenerate(row)}
    precision = str(rules.get("precision", Rules().precision))
    return BenchReport(
        name=asked.name,
        source=asked.settings.source,
        target=spec.target,
        precision=precision,
        rules=dict(rules),
        method=_method(asked.settings),
        plan=spec.plan.name,
        kernwright=__version__,
        judge=JUDGE_VERSION,
        asked=len(asked.items),
        headline=totals([row for row in rows if not is_degenerate(row)]),
        everything=totals(rows),
        degenerate=degenerate,
        unexamined=tuple(row.problem for row in rows if row.findings is None),
        waiting=tuple(row.problem for row in rows if row.waiting),
        rows=tuple(rows),
        notes=notes_of(rows, precision),
    )


def _method(settings: Settings) -> str:
    spec = settings.spec
    operators = ", ".join(_named(operator.name, operator.settings) for operator in spec.operators)
    budget = {f.name: value for f in fields(Budget) if (value := getattr(spec.budget, f.name)) is not None}
    limits = ", ".join(f"{name} {value:g}" for name, value in budget.items())
    ends = f"budget {limits}" if limits else "no budget"
    method = f"method {spec.method}, " if spec.method else ""
    models = f"models {', '.join(model.name for model in spec.models)}, " if spec.models else ""
    return f"{method}policy {_named(spec.policy, spec.policy_settings)}, operators {operators}, {models}{ends}"


def _named(name: str, settings: Mapping[str, object]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in settings.items())})" if settings else name


class _Work:
    """A bench under way."""

    def __init__(self, asked: Bench, ledger: Ledger, engine: "Engine", watch: Watch) -> None:
        self._asked, self._ledger, self._engine, self._watch = asked, ledger, engine, watch
        self._spec, self._home = asked.settings.spec, asked.home
        # A look times the baselines, and figures of another device would be kept as the target's.
        self._looks = asked.examine and not self._spec.elsewhere and self._spec.target in here()

    def done(self) -> BenchReport:
        items = self._asked.items
        loaded = {item.key: self._loaded(item) for item in items}
        rows = {key: row for key, each in loaded.items() if (row := self._settled(key, each))}
        report = self._reported(rows)
        for number, item in enumerate(items, 1):
            if item.key not in rows:
                self._watch.begins(number, len(items), item.key)
                rows[item.key] = self._row(item.key, loaded[item.key])
                report = self._reported(rows)
                self._watch.ended(rows[item.key], report)
        return report

    def _reported(self, rows: Mapping[str, Row]) -> BenchReport:
        report = report_of(self._asked, [rows[item.key] for item in self._asked.items if item.key in rows])
        write(self._asked.out, report)
        return report

    def _settled(self, key: str, loaded: "_Loaded | str") -> Row | None:
        """The row of a problem that came to its end, or could not be judged, in an earlier call."""
        known = self._ledger.known.get(key)
        if isinstance(loaded, str) or known is None:
            return None
        report = self._known(loaded.problem)
        findings = report.findings if report else None
        if isinstance(known, Refused):
            if known.problem != loaded.problem.id or self._asked.retry:
                return None
            return Row(problem=key, verdict=NOT_RUN, reason=known.reason, findings=findings)
        graph = self._engine.graph(known.run)
        if graph.finished is None or (report is None and self._looks):
            return None
        return row_of(key, known.run, graph, findings, self._engine.unsettled(known.run))

    def _loaded(self, item: Item) -> "_Loaded | str":
        """A problem with its candidates, or why it cannot be run."""
        given = self._asked.settings.given
        try:
            problem = intake.problem_of(item.id, self._asked.settings.rules)
            built_here = not self._spec.elsewhere
            start = tuple(intake.candidate_of(path, self._spec.target, here=built_here) for path in item.start)
        except UserError as error:
            return str(error)
        if given and not start:
            return f"There is no candidate for {item.key} among those given."
        known = self._ledger.known.get(item.key)
        if isinstance(known, Begun) and (known.problem, known.start) != (problem.id, tuple(c.id for c in start)):
            what = "problem" if known.problem != problem.id else "candidates"
            raise UserError(
                f"The {what} of {item.key} changed since the bench {self._asked.name!r} began on it (run {known.run}); "
                "restore the files, or give another --name to begin a new bench."
            )
        return _Loaded(problem, start)

    def _row(self, key: str, loaded: "_Loaded | str") -> Row:
        if isinstance(loaded, str):
            return Row(problem=key, verdict=NOT_RUN, reason=loaded)
        problem, known = loaded.problem, self._ledger.known.get(key)
        report = self._known(problem)
        failed = Row(problem=key, verdict=NOT_RUN, reason="", findings=report.findings if report else None)
        try:
            if report is None and self._looks:
                report = self._examined(problem)
                failed = replace(failed, findings=report.findings)
            run = known.run if isinstance(known, Begun) else self._begun(key, loaded)
            graph = self._engine.drive(run, self._watch)
        except (RunLocked, MachineFault) as error:
            return replace(failed, reason=f"{error} Calling the bench again tries it again.")
        except UserError as error:
            self._ledger.write(Refused(key=key, problem=problem.id, reason=str(error)))
            return replace(failed, reason=str(error))
        return row_of(key, run, graph, report.findings if report else None, self._engine.unsettled(run))

    def _known(self, problem: Problem) -> ProblemReport | None:
        """What was said of a problem where the target is: here, or on the machine that did its jobs."""
        target, threads = self._spec.target, self._spec.plan.threads
        return known_report(problem, target, self._home) or brought_report(problem, target, threads, self._home)

    def _examined(self, problem: Problem) -> ProblemReport:
        self._engine.rest()  # whatever the problem before still holds of the memory would be missing here
        with self._watch.looks() as say:
            return examine(problem, self._spec.target, self._spec.plan, self._home, say)

    def _begun(self, key: str, loaded: "_Loaded") -> str:
        run = service.create(self._home, self._spec, loaded.problem, loaded.start)
        start = tuple(candidate.id for candidate in loaded.start)
        self._ledger.write(Begun(key=key, problem=loaded.problem.id, start=start, run=run))
        return run


@dataclass(frozen=True, slots=True)
class _Loaded:
    problem: Problem
    start: tuple[Candidate, ...]


class Engine:
    """Drives one run after another with the same executor, so that what it has warm stays so."""

    def __init__(self, spec: RunSpec, home: Path, store: SqlStore, runner: asyncio.Runner) -> None:
        self._spec, self._home, self._store, self._runner = spec, home, store, runner
        self._stack = AsyncExitStack()
        self._executor: Executor | None = None
        self._say: Callable[[str], None] = _silent

    def drive(self, run: str, watch: Watch) -> Graph:
        """A run to its ending; at once where it has come to it.

        Raises:
            RunLocked, UserError, MachineFault, KeyboardInterrupt: as `service.drive` does.
        """
        graph = self.graph(run)
        if graph.finished is not None:
            return graph
        with self._store.lock(run), watch.follows(run) as follower:
            journal = Journal(self._store, run, follower.observe)
            graph = journal.graph
            if graph.seq > 1:
                journal.write(Resumed(budget=graph.budget, until=graph.until, patience=graph.patience))
            self._say = follower.say
            try:
                return self._runner.run(self._driven(journal))
            except UserError:
                raise
            except Exception as error:
                self.rest()
                if isinstance(error, MachineFault):
                    raise
                raise MachineFault(f"Kernwright failed: {type(error).__name__}: {error}.") from error
            finally:
                self._say = _silent

    def graph(self, run: str) -> Graph:
        """A run as it stands."""
        return fold(self._store.events(run))

    def unsettled(self, run: str) -> Sequence[str]:
        """Of each job that the run waits for, the kind; none where it is judged on this machine."""
        return unsettled(self._store, run, self._home) if self._spec.elsewhere else ()

    def rest(self) -> None:
        """End every process that is kept warm; the next run starts new ones."""
        stack, self._stack, self._executor = self._stack, AsyncExitStack(), None
        self._runner.run(stack.aclose())

    async def _driven(self, journal: Journal) -> Graph:
        if self._executor is None:
            context = wiring.executor_of(self._spec, self._home, lambda text: self._say(text))
            self._executor = await self._stack.enter_async_context(context)
        async with wiring.calls_of(journal) as calls:
            return await wiring.loop_of(journal, self._store, self._executor, self._home, calls).run()


@contextmanager
def engine_for(spec: RunSpec, home: Path, store: SqlStore) -> Iterator[Engine]:
    """An engine for runs whose evaluations are done in the same way; nothing that it started is left afterwards."""
    with asyncio.Runner() as runner:
        engine = Engine(spec, home, store, runner)
        try:
            yield engine
        finally:
            engine.rest()


class Unwatched:
    """Nobody watches."""

    def begins(self, number: int, total: int, key: str) -> None:
        """Tells nobody."""

    def looks(self) -> AbstractContextManager[Callable[[str], None]]:
        """Tells nobody."""
        return nullcontext(_silent)

    def follows(self, run: str) -> AbstractContextManager[Follower]:
        """Tells nobody."""
        return nullcontext(Follower(lambda entry, graph: None, _silent))

    def ended(self, row: Row, report: BenchReport) -> None:
        """Tells nobody."""


def _silent(text: str) -> None:
    pass
