"""Bringing results home: what was done elsewhere, journalled as the run's own engine would have done it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernwright.core.brief import Exhausted, Pick, Proposed, Remarked, Unusable
from kernwright.core.candidate import Candidate
from kernwright.core.digest import digest_bytes
from kernwright.core.errors import RunLocked, UserError
from kernwright.core.events import Drafted, Evaluated, Event, Picked, Profiled, Resumed
from kernwright.core.jobs import JUDGE_VERSION, evaluation_key
from kernwright.core.plan import Plan
from kernwright.core.report import ProblemReport
from kernwright.engine import wiring
from kernwright.engine.journal import Journal, Observe
from kernwright.engine.service import opened
from kernwright.search.diagnosis import diagnose, expected_of
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore

from . import reports
from .exporting import name_of, open_tuning
from .facts import ORDER, Job, Result
from .folder import ResultFolder
from .looping import CHILD

Ended = tuple[Pick, Proposed | Unusable, Evaluated | None]


@dataclass(slots=True, kw_only=True)
class Imported:
    """What an import did."""

    run: str
    results: int
    """Results of this run in the folder."""
    others: int
    """Results of other runs, which were left alone."""
    events: int = 0
    """Events that the journal did not have; 0 where all was there already."""
    reports: list[ProblemReport] = field(default_factory=list)


def bring(home: Path, run: str, results: Path, observe: Observe | None = None) -> Imported:
    """Append what a folder of results has of a run, and what its journal does not; all of it or nothing.

    `observe` is told of each event before the last one is there, and so before any of them is kept.

    Raises:
        UserError: the folder holds nothing of this run, or a result was changed, is about another problem or
            candidate, or comes from another version of the judge.
        RunLocked: an engine holds the run.
    """
    with opened(home) as store:
        run = store.resolve_run(run)
        found = list(ResultFolder(results).all())
        own = [(path, result) for path, result in found if result.job.run == run]
        if not own:
            runs = ", ".join(sorted({result.job.run for _, result in found}))
            raise UserError(f"{results} holds nothing of run {run}; its results are of: {runs}.")
        return _brought(store, home, run, own, len(found) - len(own), observe)


def bring_all(home: Path, results: Path) -> tuple[list[Imported], dict[str, str]]:
    """The same for every run of the home that the folder has results of; what was done, and by run why nothing was.

    Raises:
        UserError: the folder holds no results of any of them, or one was changed.
    """
    runs: dict[str, list[tuple[Path, Result]]] = {}
    for path, result in ResultFolder(results).all():
        runs.setdefault(result.job.run, []).append((path, result))
    done, refused = [], dict[str, str]()
    with opened(home) as store:
        known = [run for run in store.runs() if run in runs]
        if not known:
            raise UserError(f"{results} holds nothing of any run in {home}; its results are of: {', '.join(runs)}.")
        others = sum(len(own) for run, own in runs.items() if run not in known)
        for run in known:
            try:
                done.append(_brought(store, home, run, runs[run], others, None))
            except (UserError, RunLocked) as error:
                refused[run] = str(error)
    return done, refused


def _brought(
    store: SqlStore, home: Path, run: str, own: list[tuple[Path, Result]], others: int, observe: Observe | None
) -> Imported:
    with store.lock(run):
        journal = Journal(store, run, observe)
        for path, result in own:
            _Proof(journal, path, result).require()
        done = Imported(run=run, results=len(own), others=others)
        results = sorted((result for _, result in own), key=_order)
        with store.together():  # a node that was opened for a draft is never left without it
            home_coming = _HomeComing(journal, done)
            for result in results:
                home_coming.take(result)
            home_coming.settle()
        # Files are in no transaction. What is not kept now, the next import keeps.
        done.reports += [r.report for r in results if r.report is not None and reports.keep(home, r.report)]
    return done


def _order(result: Result) -> tuple[int, bool, int]:
    job = result.job
    return ORDER.index(job.kind) if job.kind in ORDER else len(ORDER), job.purpose == "confirm", job.node or 0


class _Proof:
    """That a result belongs to this run, and says what it is said to say."""

    def __init__(self, journal: Journal, path: Path, result: Result) -> None:
        self._journal, self._path, self._result = journal, path, result

    def require(self) -> None:
        """Raises UserError for the first thing that does not fit."""
        job, journal = self._result.job, self._journal
        # First, since the version is part of a job's name.
        if self._result.judge_version != JUDGE_VERSION:
            self._refuse(
                f"comes from version {self._result.judge_version} of the judge and this is version {JUDGE_VERSION}, "
                "so that figures cannot be compared; use the same Kernwright on both machines"
            )
        if self._path.stem != job.id:
            self._refuse(f"is the result of job {job.id}; give it back its name, or leave it out")
        if job.problem != journal.problem_id:
            self._refuse(f"is about another problem than run {journal.run}")
        if job.spec.target != journal.spec.target:
            self._refuse(f"is for {job.spec.target!r} and the run for {journal.spec.target!r}")
        if job.node is not None:
            node = journal.graph.nodes[job.node] if job.node < len(journal.graph.nodes) else None
            if node is None or node.candidate != job.candidate:
                self._refuse(f"is about another candidate than node {job.node} of run {journal.run}")
        self._require_events(job, journal.spec.confirm_plan if job.purpose == "confirm" else journal.spec.plan)
        report = self._result.report
        if report is not None and (report.problem, report.target) != (job.problem, job.spec.target):
            self._refuse("reports on another problem or target than it was asked for")

    def _require_events(self, job: Job, plan: Plan) -> None:
        candidates = _candidates(self._result)
        proposed: dict[int, str] = {}
        if job.kind == "judge" and job.node is not None:
            proposed[job.node] = self._journal.candidate(job.candidate).id
        for event in self._result.events:
            if isinstance(event, Drafted) and isinstance(event.draft, Proposed):
                if event.draft.candidate not in candidates:
                    self._refuse(f"lacks the candidate that its node {event.node} proposes")
                proposed[event.node] = candidates[event.draft.candidate].id
            if not isinstance(event, Evaluated):
                continue
            evaluation = event.evaluation
            if evaluation.problem != job.problem or evaluation.target != job.spec.target:
                self._refuse("holds an evaluation for another problem or target")
            if evaluation.judge_version != JUDGE_VERSION:
                self._refuse(f"holds an evaluation by version {evaluation.judge_version} of the judge")
            if event.key != evaluation_key(evaluation.candidate, job.problem, plan):
                self._refuse("holds an evaluation of another candidate, or under another plan")
            if event.purpose != "tune" and evaluation.candidate != proposed.get(event.node):
                self._refuse(f"holds an evaluation of another candidate than that of its node {event.node}")

    def _refuse(self, what: str) -> None:
        raise UserError(f"{self._path} {what}. Nothing was imported.")


class _HomeComing:
    """Writes what the journal does not have."""

    def __init__(self, journal: Journal, done: Imported) -> None:
        self._journal, self._graph, self._done = journal, journal.graph, done
        self._fitness = wiring.fitness_of(journal.spec)

    def take(self, result: Result) -> None:
        match result.job.kind:
            case "judge":
                self._judged(result)
            case "seeds":
                self._seeds(result)
            case "tune":
                self._tuned(result)
            case "profile":
                self._profiled(result)

    def settle(self) -> None:
        """Nodes that wait with a source that was evaluated for another node get that evaluation."""
        for node in self._graph.in_flight():
            if node.candidate is not None:
                candidate = self._journal.candidate(node.candidate)
                key = evaluation_key(candidate.id, self._journal.problem_id, self._journal.spec.plan)
                event = self._graph.evaluations.get(key)
                if event is not None and event.purpose != "tune":
                    self._write(replace(event, node=node.id, purpose="search", reused=True))

    def _judged(self, result: Result) -> None:
        for event in result.events:
            if isinstance(event, Evaluated):
                known = self._graph.evaluations.get(event.key)
                searched = event.purpose == "search" and self._graph.node(event.node).evaluation is not None
                if not searched and (known is None or known.purpose == "tune"):
                    self._evaluated(event, event.node)

    def _profiled(self, result: Result) -> None:
        number = result.job.node
        assert number is not None
        if result.profile is not None and self._graph.node(number).profile is None:
            node = replace(self._graph.node(number), profile=result.profile)
            diagnosis = diagnose(result.profile, node.evaluation, expected_of(node, self._graph.nodes))
            self._write(Profiled(node=number, profile=result.profile, diagnosis=diagnosis))

    def _seeds(self, result: Result) -> None:
        known = {_name(node.draft): node.id for node in self._graph.nodes}
        for pick, draft, event in _ended(result):
            node = known.get(_name(draft))
            if node is None:
                node = self._opened(replace(pick, parents=()))
                self._drafted(node, draft, result)
            if event is not None and self._graph.node(node).evaluation is None:
                self._evaluated(event, node)
        over = Exhausted(operator=name_of(result.job.spec.operators[0]), intent="start")
        if result.complete and all(node.draft != over for node in self._graph.nodes):
            self._write(Drafted(node=self._opened(Pick()), draft=over))

    def _tuned(self, result: Result) -> None:
        parent = result.job.node
        assert parent is not None
        ended = next(_ended(result), None)
        trials = [e for e in result.events if isinstance(e, Evaluated) and e.purpose == "tune"]
        child = self._child(parent, ended[1] if ended else None)
        if child is None and not (trials or ended):
            return
        if child is None:
            child = self._opened(Pick(parents=(parent,), intent="tune"))
        for trial in trials:
            if trial.key not in self._graph.evaluations:
                self._evaluated(trial, child)
        if ended is None:
            return
        _, draft, event = ended
        if self._graph.node(child).draft is None:
            self._drafted(child, _renamed(draft, child), result)
        if event is not None and self._graph.node(child).evaluation is None:
            self._evaluated(event, child)

    def _child(self, parent: int, draft: Proposed | Unusable | None) -> int | None:
        """The node that this tuning has already: the one under way, or the one with its draft."""
        for child in self._graph.children(parent):
            node = self._graph.nodes[child]
            if draft is not None and node.pick.intent == "tune" and node.draft == _renamed(draft, child):
                return child
        return open_tuning(self._graph, parent)

    def _opened(self, pick: Pick) -> int:
        node = len(self._graph.nodes)
        self._write(Picked(node=node, pick=pick))
        return node

    def _drafted(self, node: int, draft: Proposed | Unusable, result: Result) -> None:
        if isinstance(draft, Proposed):
            self._journal.put(_candidates(result)[draft.candidate])
        self._write(Drafted(node=node, draft=draft))

    def _evaluated(self, event: Evaluated, node: int) -> None:
        score = self._fitness.score(event.evaluation)
        self._write(replace(event, node=node, score=score, reused=False))

    def _write(self, event: Event) -> None:
        if self._done.events == 0:  # the clock of the run's spent time starts anew: nobody worked here meanwhile
            graph = self._graph
            self._journal.write(Resumed(budget=graph.budget, until=graph.until, patience=graph.patience))
        self._journal.write(event)
        self._done.events += 1


def _ended(result: Result) -> Iterator[Ended]:
    """Nodes of the job that came to an end, in order: opened how, proposing what, and what it was worth."""
    picks = {event.node: event.pick for event in result.events if isinstance(event, Picked)}
    last = {e.node: e for e in result.events if isinstance(e, Evaluated) and e.purpose != "tune"}
    for event in result.events:
        if not isinstance(event, Drafted) or isinstance(event.draft, Exhausted):
            continue
        if isinstance(event.draft, Remarked):  # of no node that the run at home has
            continue
        if isinstance(event.draft, Unusable) or event.node in last:
            yield picks.get(event.node, Pick()), event.draft, last.get(event.node)


def _candidates(result: Result) -> dict[str, Candidate]:
    """By blob."""
    return {digest_bytes(encode_candidate(candidate)): candidate for candidate in result.candidates}


def _name(draft: object) -> tuple[str, str, str] | None:
    """What tells one draft of an operator from another."""
    if not isinstance(draft, Proposed | Unusable):
        return None
    return draft.operator, draft.item, draft.candidate if isinstance(draft, Proposed) else ""


def _renamed(draft: Proposed | Unusable, node: int) -> Proposed | Unusable:
    """The draft with the number that its node has here."""
    return replace(draft, item=f"node {node}") if draft.item == f"node {CHILD}" else draft
