"""The pending jobs of a run: a function of its journal, written as a folder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from kernwright.core.brief import Exhausted, Intent
from kernwright.core.digest import digest_bytes
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.events import Evaluated, RunStarted
from kernwright.core.graph import Graph
from kernwright.core.jobs import evaluation_key
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.ports import Store
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.core.spec import Budget, OperatorSpec, RunSpec, Spent
from kernwright.engine import wiring
from kernwright.engine.journal import Journal
from kernwright.engine.service import opened
from kernwright.search.operators import TABLE as OPERATORS
from kernwright.search.termination import unconfirmed_top
from kernwright.store.codec import encode

from . import reports
from .facts import ORDER, Job, Kind, RunJobs
from .folder import JobFolder

PROFILED = 3
"""Of the best, that are looked at."""
SETTLING: tuple[Kind, ...] = ("judge", "seeds", "tune")
"""Kinds whose results may change what a run has found; the others only say more of it."""
TUNER = OperatorSpec(name="tuner")
"""Tunes a node that the user names, in a run without such an operator."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    run: str
    target: str
    jobs: tuple[Job, ...]


def export(
    home: Path, run: str, out: Path, *, only: Sequence[str] = (), tune: Sequence[int] = (), confirm: bool = True
) -> Exported:
    """Write the pending jobs of a run, of all kinds or `only` these; `tune` names nodes to be tuned besides.

    Without `confirm` the best is left for a later round. The same journal gives the same files. Takes no lock.

    Raises:
        UserError: there is no such run, kind or node, or the folder holds what is no job, or cannot be written.
    """
    kinds = _kinds(only)
    with opened(home) as store:
        return _exported(store, home, store.resolve_run(run), JobFolder(out), kinds, tune, confirm=confirm)


def export_all(home: Path, out: Path, *, only: Sequence[str] = (), confirm: bool = True) -> list[Exported]:
    """The same for every run of the home that is judged elsewhere, into one folder.

    Raises:
        UserError: there is no such run, or no such kind, or the folder holds what is no job, or cannot be written.
    """
    kinds = _kinds(only)
    with opened(home) as store:
        runs = [run for run in store.runs() if _is_elsewhere(store, run)]
        if not runs:
            raise UserError(
                f"No run in {home} is judged elsewhere; begin one with --executor jobs, or for a target of another "
                "machine."
            )
        folder = JobFolder(out)
        return [_exported(store, home, run, folder, kinds, (), confirm=confirm) for run in runs]


def unsettled(store: Store, run: str, home: Path) -> tuple[Kind, ...]:
    """Of each job that a run which is judged elsewhere still waits for, the kind. Takes no lock."""
    jobs = _Pending(store, Journal(store, run), home, ()).jobs()
    return tuple(job.kind for job in jobs if job.kind in SETTLING)


def _is_elsewhere(store: Store, run: str) -> bool:
    first = next(iter(store.events(run)), None)
    return first is not None and isinstance(first.event, RunStarted) and first.event.spec.elsewhere


def _exported(
    store: Store, home: Path, run: str, out: JobFolder, kinds: Sequence[str], tune: Sequence[int], *, confirm: bool
) -> Exported:
    journal = Journal(store, run)
    pending = _Pending(store, journal, home, tune)
    found = (job for job in pending.jobs() if confirm or job.purpose != "confirm")
    jobs = {job.id: job for job in found if job.kind in kinds}
    entry = RunJobs(
        problem=journal.problem.name,
        target=journal.spec.target,
        jobs={id: job.kind for id, job in jobs.items()},
    )
    needed = {blob for job in jobs.values() for blob in (job.candidate, job.champion) if blob}
    out.put(run, entry, jobs, [pending.problem, *map(store.get, sorted(needed))])
    return Exported(run, journal.spec.target, tuple(jobs.values()))


def _kinds(only: Sequence[str]) -> Sequence[str]:
    for kind in only:
        if kind not in ORDER:
            raise unknown_name("kind of job", kind, ORDER)
    return only or ORDER


class _Pending:
    def __init__(self, store: Store, journal: Journal, home: Path, tune: Sequence[int]) -> None:
        self._store, self._journal, self._home, self._tune = store, journal, home, tune
        self._graph, self._spec = journal.graph, journal.spec
        # The folder goes to other machines, where this one's paths are nobody's business.
        self.problem = encode(replace(journal.problem, origin=Path(journal.problem.origin).name))
        self._problem_blob = digest_bytes(self.problem)
        self._left = remaining(journal.graph.budget, journal.graph.spent)

    def jobs(self) -> Iterator[Job]:
        yield from self._judge()
        if self._spec.elsewhere:
            yield from self._baseline()
            yield from self._seeds()
        yield from self._tuning()
        yield from self._profiles()

    def _judge(self) -> Iterator[Job]:
        graph, spec = self._graph, self._spec
        seen = {key for key, event in graph.evaluations.items() if event.purpose != "tune"}
        for node in graph.in_flight():
            if node.candidate is None:
                continue
            key = evaluation_key(self._journal.candidate(node.candidate).id, self._journal.problem_id, spec.plan)
            if key not in seen:
                seen.add(key)
                yield self._job("judge", node=node.id, candidate=node.candidate)
        top = unconfirmed_top(graph, spec.confirm_plan)
        if top is not None and top.candidate is not None:
            champion = graph.champion()
            rival = champion.candidate if champion is not None and champion.candidate != top.candidate else None
            yield self._job("judge", node=top.id, candidate=top.candidate, purpose="confirm", champion=rival or "")

    def _baseline(self) -> Iterator[Job]:
        path = reports.path_of(self._home, self._journal.problem_id, self._spec.target, self._spec.plan.threads)
        if not path.is_file():
            yield self._job("baseline")

    def _seeds(self) -> Iterator[Job]:
        for operator in travelling(self._spec, "start"):
            name = name_of(operator)
            over = any(
                isinstance(node.draft, Exhausted) and node.draft.operator == name and node.draft.intent == "start"
                for node in self._graph.nodes
            )
            if not over and _room(self._left):
                used = tuple(sorted(item for who, item in self._graph.used_items if who == name))
                yield self._job("seeds", operator, used=used)

    def _tuning(self) -> Iterator[Job]:
        operators = travelling(self._spec, "tune")
        named = [_tunable(self._graph, number) for number in self._tune]
        chosen = list(self._worth_tuning()) if self._spec.elsewhere and operators else []
        for node in {node.id: node for node in (*named, *chosen)}.values():
            assert node.candidate is not None
            child = open_tuning(self._graph, node.id)
            # A tuning that is under way is among the proposals that are spent already.
            if not _room(self._left if child is None else replace(self._left, proposals=None)):
                continue
            yield self._job(
                "tune",
                operators[0] if operators else TUNER,
                node=node.id,
                candidate=node.candidate,
                evaluation=node.evaluation,
                known=self._trials(child) if child is not None else (),
            )

    def _worth_tuning(self) -> Iterator[Node]:
        """Nodes with knobs that nobody tuned: those whose worth is not known, and the best."""
        best = self._graph.best()
        for node in self._graph.nodes:
            if not _knobs(node) or _tuned(self._graph, node.id):
                continue
            if node.evaluation is None or (best is not None and node.id == best.id and _measured(node)):
                yield node

    def _profiles(self) -> Iterator[Job]:
        """The best that nobody looked at, and those whose writers expected something."""
        nodes = self._graph.nodes
        if not wiring.told(self._spec):
            return
        chosen = [*self._graph.ranked(PROFILED), *(n for n in nodes if getattr(n.draft, "expects", ()))]
        parents = [nodes[n.pick.parents[0]] for n in chosen if getattr(n.draft, "expects", ()) and n.pick.parents]
        for node in {node.id: node for node in (*chosen, *parents)}.values():
            if node.profile is None and node.candidate is not None and _measured(node):
                yield self._job("profile", node=node.id, candidate=node.candidate)

    def _trials(self, child: int) -> tuple[Evaluated, ...]:
        events = (entry.event for entry in self._store.events(self._journal.run))
        return tuple(e for e in events if isinstance(e, Evaluated) and e.node == child and e.purpose == "tune")

    def _job(self, kind: Kind, *operators: OperatorSpec, **what: object) -> Job:
        spec = replace(self._spec, operators=operators, budget=self._left, until=None, patience=None)
        made: Mapping[str, object] = {
            "kind": kind,
            "run": self._journal.run,
            "problem": self._journal.problem_id,
            "problem_blob": self._problem_blob,
            "spec": spec,
            **what,
        }
        return Job(**made)  # type: ignore[arg-type]


def remaining(budget: Budget, spent: Spent) -> Budget:
    """What may still be spent."""
    limits = {f.name: getattr(budget, f.name) for f in fields(budget)}
    rest = {name: None if n is None else max(0, n - getattr(spent, name)) for name, n in limits.items()}
    return Budget(**rest)


def travelling(spec: RunSpec, intent: Intent) -> list[OperatorSpec]:
    """The run's operators that work only where its target is, for this intent."""
    found = []
    for operator in spec.operators:
        kind = resolve(reference("operators", OPERATORS, operator.name))
        if wiring.at_target(operator) and intent in getattr(kind, "intents", ()):
            found.append(operator)
    return found


def name_of(operator: OperatorSpec) -> str:
    """What an operator calls itself in its drafts."""
    return str(resolve(reference("operators", OPERATORS, operator.name)).name)


def open_tuning(graph: Graph, node: int) -> int | None:
    """The node's tuning that is under way, if any."""
    for child in graph.children(node):
        if graph.nodes[child].pick.intent == "tune" and graph.nodes[child].draft is None:
            return child
    return None


def _tuned(graph: Graph, node: int) -> bool:
    drafts = [graph.nodes[child].draft for child in graph.children(node) if graph.nodes[child].pick.intent == "tune"]
    return any(draft is not None and not isinstance(draft, Exhausted) for draft in drafts)


def _tunable(graph: Graph, number: int) -> Node:
    if not 0 <= number < len(graph.nodes):
        raise UserError(f"There is no node {number} to tune in this run; its nodes are 0 to {len(graph.nodes) - 1}.")
    if not _knobs(graph.nodes[number]):
        raise UserError(f"Node {number} declares no knobs, so there is nothing to tune.")
    return graph.nodes[number]


def _knobs(node: Node) -> bool:
    return node.candidate is not None and bool(getattr(node.draft, "knobs", ()))


def _measured(node: Node) -> bool:
    return node.evaluation is not None and timings_of(node.evaluation.outcome) is not None


def _room(budget: Budget) -> bool:
    return budget.proposals != 0 and budget.evaluations != 0 and budget.seconds != 0
