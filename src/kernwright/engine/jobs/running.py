"""Doing a folder of jobs where their target is, within a time limit; each result is kept as soon as it is there."""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from kernwright import __version__
from kernwright.core.brief import Exhausted
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.events import Drafted, Evaluated
from kernwright.core.jobs import JUDGE_VERSION, EvalJob, evaluation_key
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.ports import Executor
from kernwright.core.problem import Problem
from kernwright.core.profile import Profile
from kernwright.core.spec import Budget, RunSpec, Spent
from kernwright.engine import intake, reporting, wiring
from kernwright.engine.journal import RETRIES
from kernwright.engine.profiles import look_of
from kernwright.engine.targets import target_of
from kernwright.store.disk import DiskFull

from .exporting import remaining
from .facts import ORDER, Job, Kind, Result
from .folder import AGAIN, JobFolder, ResultFolder, require_writable
from .looping import Looping
from .queue import Queue

T = TypeVar("T")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A job that is not done, and why."""

    job: str
    kind: Kind
    reason: str
    blame: Literal["", "user", "machine"] = ""
    """Whose fault it is; empty where it was only not come to."""


@dataclass(slots=True, kw_only=True)
class Summary:
    """What became of a folder of jobs."""

    done: list[str] = field(default_factory=list)
    """Done now."""
    before: list[str] = field(default_factory=list)
    """Done by an earlier call."""
    left: list[Left] = field(default_factory=list)
    struck: bool = False
    """Whether the limit ended it."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the work may use."""

    home: Path
    """Folder for caches."""
    slots: int = 1
    """Jobs, and evaluations, at a time."""
    limit_s: float | None = None
    target: str | None = None
    """Only jobs for this one."""
    runs: tuple[str, ...] = ()
    """Only jobs of runs whose id has one of these parts; of all where there is none."""
    executor: str = "processes"


def run(jobs: Path, results: Path, means: Means, say: Say) -> Summary:
    """Do what is not in `results` yet: judgements first, then baselines, seeds, tunings.

    When the limit strikes, what is under way is ended within seconds; trials and nodes that a job had finished are
    kept, and the next call goes on from them.

    Raises:
        UserError: a folder is none, was changed, or nothing in it is for a target that is here; or the results cannot
            be written. Nothing was done.
        RunLocked: another process writes to `results`.
        DiskFull: `results` has no room. Where it is full later only, jobs are left instead, and no more are begun.
        KeyboardInterrupt: after Ctrl-C; what was finished is kept.
    """
    folder = JobFolder(jobs)
    work = _Work(folder, ResultFolder(results), means, say)
    return asyncio.run(work.all(folder.jobs()))


class _Work:
    def __init__(self, folder: JobFolder, results: ResultFolder, means: Means, say: Say) -> None:
        self._folder, self._results, self._means, self._say = folder, results, means, say
        self._summary = Summary()
        self._executors: dict[str, Executor] = {}
        self._stack = AsyncExitStack()
        self._jobs: tuple[Job, ...] = ()
        self._count = 0
        self._queue = Queue((), lambda job: 0.0)

    async def all(self, jobs: tuple[Job, ...]) -> Summary:
        began, self._jobs = time.monotonic(), jobs
        waiting = self._waiting(jobs)
        self._count = len(waiting)
        self._queue = Queue(waiting, lambda job: _speedup(self._of_parent(job)))
        async with self._stack:
            if waiting:
                self._stack.enter_context(self._results.held())
            try:
                async with asyncio.timeout(self._means.limit_s) as limit:
                    _strike_when_terminated(limit)
                    async with asyncio.TaskGroup() as group:
                        for _ in range(min(self._means.slots, len(waiting))):
                            group.create_task(self._worker())
            except TimeoutError:
                if not limit.expired():
                    raise
                self._summary.struck = True
        known = {*self._summary.done, *(left.job for left in self._summary.left)}
        for job in waiting:
            if job.id not in known:
                self._leave(job, "the time limit came first")
        self._summary.seconds = time.monotonic() - began
        return self._summary

    def _waiting(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs to do, in the order in which they were written; those that cannot be done here are left."""
        chosen = self._chosen(jobs)
        missing = {target: _missing(target) for target in {job.spec.target for job in chosen}}
        if missing and all(missing.values()):
            raise UserError(" ".join(filter(None, missing.values())))
        waiting = []
        for job in chosen:
            if self._is_done(job):
                self._summary.before.append(job.id)
            elif reason := missing[job.spec.target]:
                self._leave(job, reason)
            elif job.kind not in ORDER:
                self._leave(job, f"this version does no {job.kind} jobs")
            else:
                waiting.append(job)
        return waiting

    def _chosen(self, jobs: Sequence[Job]) -> list[Job]:
        """Those that were asked for."""
        chosen = [job for job in jobs if self._means.target in (None, job.spec.target)]
        if jobs and not chosen:
            targets = ", ".join(sorted({job.spec.target for job in jobs}))
            raise UserError(f"No job is for the target {self._means.target!r}; they are for: {targets}.")
        for part in self._means.runs if chosen else ():
            runs = ", ".join(sorted({job.run for job in chosen}))
            if not part:
                raise UserError(f"Runs are chosen by a part of their id, and one part is empty; there are: {runs}.")
            if not any(part in job.run for job in chosen):
                where = f" for the target {self._means.target!r}" if self._means.target else ""
                raise UserError(f"No job{where} is of a run whose id has {part!r} in it; there are: {runs}.")
        if parts := self._means.runs:
            chosen = [job for job in chosen if any(part in job.run for part in parts)]
        return chosen

    async def _worker(self) -> None:
        async for job in self._queue.taken():
            await self._attempted(job)

    async def _attempted(self, job: Job) -> None:
        """One job, whose failure does not keep the others from being done."""
        began = time.monotonic()
        try:
            if self._is_done(job):  # by whoever else writes here: not every file system knows locks
                self._summary.before.append(job.id)
                return
            require_writable(self._results.path)  # else the work would be for nothing
            result = await self._result(job)
            if result is None:
                return
            self._results.write(result)
        except UserError as error:
            self._leave(job, str(error), "user")
        except DiskFull as error:  # of a scratch folder perhaps, whose run is nobody's to resume
            self._leave(job, str(DiskFull(error.folder, AGAIN)), "machine")
        except MachineFault as error:
            self._leave(job, str(error), "machine")
        else:
            if result.complete:
                self._summary.done.append(job.id)
                self._tell(job, f"{_said(result)}, {time.monotonic() - began:.1f} s")
            else:
                self._leave(job, "the run's budget is spent; where the run is, give it more and export again")

    async def _result(self, job: Job) -> Result | None:
        """What came of it; None where it was left."""
        match job.kind:
            case "judge":
                return await self._judged(job)
            case "profile":
                return await self._profiled(job)
            case "baseline":
                return await self._looked(job)
            case _:
                return await self._looped(job)

    def _is_done(self, job: Job) -> bool:
        result = self._results.get(job.id)
        return result is not None and result.complete

    async def _judged(self, job: Job) -> Result:
        problem = self._folder.problem(job)
        task = self._evaluation(job, problem)
        executor = await self._executor(job.spec)
        evaluation = await self._tried(lambda: executor.submit(replace(task, followed=self._queue.is_followed(job))))
        assert job.node is not None
        event = Evaluated(
            node=job.node,
            purpose=job.purpose,
            key=evaluation_key(task.candidate.id, problem.id, job.plan),
            score=wiring.fitness_of(job.spec).score(evaluation),
            evaluation=evaluation,
        )
        return replace(_empty(job), complete=True, events=(event,), seconds=sum(evaluation.stage_s.values()))

    async def _profiled(self, job: Job) -> Result:
        began = time.monotonic()
        look = look_of(
            self._evaluation(job, self._folder.problem(job)), "code" if job.spec.profiles == "code" else "run"
        )
        executor = await self._executor(job.spec)
        evaluation = await self._tried(lambda: executor.submit(look))
        profile = evaluation.profile or Profile(missing=(f"profiling: {evaluation.outcome.reason}",))
        return replace(_empty(job), complete=True, profile=profile, seconds=time.monotonic() - began)

    def _evaluation(self, job: Job, problem: Problem) -> EvalJob:
        champion = self._folder.candidate(job.champion) if job.champion else None
        candidate = self._folder.candidate(job.candidate)
        return intake.job_of(problem, candidate, job.spec.target, job.plan, self._means.home, champion)

    async def _looked(self, job: Job) -> Result:
        stop, began = threading.Event(), time.monotonic()
        look = partial(
            reporting.report,
            self._folder.problem(job),
            job.spec.target,
            job.plan,
            self._means.home,
            lambda text: None,
            stop.is_set,
        )
        try:
            report = await self._tried(lambda: asyncio.to_thread(look))
        finally:
            stop.set()
        return replace(_empty(job), complete=True, report=report, seconds=time.monotonic() - began)

    async def _looped(self, job: Job) -> Result | None:
        begun = self._results.get(job.id) or _empty(job)
        if job.kind == "tune" and begun.job.evaluation is None:
            known = self._of_parent(job)
            if known is None:
                self._leave(job, f"node {job.node} is not judged yet")
                return None
            if timings_of(known.outcome) is None:
                return replace(begun, complete=True)
            begun = replace(begun, job=replace(begun.job, evaluation=known))
        problem = self._folder.problem(job)
        parent = self._folder.candidate(job.candidate) if job.candidate else None
        executor = await self._executor(job.spec)
        looping = Looping(begun, problem, parent, self._results.write)
        slots = max(1, self._means.slots // self._queue.count)  # the others belong to other jobs
        return await looping.run(executor, slots, self._budget(job), self._means.home)

    def _of_parent(self, job: Job) -> Evaluation | None:
        """What is known of the node that a job tunes."""
        if job.evaluation is not None:
            return job.evaluation
        for other in self._jobs:
            if (other.kind, other.run, other.candidate) == ("judge", job.run, job.candidate):
                result = self._results.get(other.id)
                if result is not None and result.events and isinstance(event := result.events[-1], Evaluated):
                    return event.evaluation
        return None

    def _budget(self, job: Job) -> Budget:
        """What the run had left when its jobs were written, less what was spent on them since."""
        spent = Spent()
        for other in self._jobs:
            if other.run == job.run and (result := self._results.get(other.id)) is not None:
                proposals, evaluations = _spent(other, result)
                spent = replace(
                    spent, proposals=spent.proposals + proposals, evaluations=spent.evaluations + evaluations
                )
        return remaining(job.spec.budget, spent)

    async def _tried(self, step: Callable[[], Awaitable[T]]) -> T:
        """The step's answer, after some faults of the machine if need be."""
        for attempt in range(RETRIES + 1):
            try:
                return await step()
            except MachineFault as fault:
                if attempt == RETRIES:
                    raise MachineFault(f"{fault} (tried {RETRIES + 1} times)") from fault
        raise AssertionError("the last attempt returns or raises")

    async def _executor(self, spec: RunSpec) -> Executor:
        if spec.evaluator not in self._executors:
            here = replace(spec, executor=self._means.executor, evaluations_in_flight=self._means.slots)
            context = wiring.executor_of(here, self._means.home, lambda text: None)
            self._executors[spec.evaluator] = await self._stack.enter_async_context(context)
        return self._executors[spec.evaluator]

    def _leave(self, job: Job, reason: str, blame: Literal["", "user", "machine"] = "") -> None:
        self._summary.left.append(Left(job=job.id, kind=job.kind, reason=reason, blame=blame))
        self._tell(job, f"left: {reason}")

    def _tell(self, job: Job, text: str) -> None:
        ended = len(self._summary.done) + len(self._summary.left)
        what = f" node {job.node}" if job.node is not None else ""
        self._say(f"[{ended}/{max(ended, self._count)}] {job.kind}{what} of {job.run}: {text}")


def _strike_when_terminated(limit: asyncio.Timeout) -> None:
    """SIGTERM is a limit that strikes now: so schedulers announce that the time is up."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(RuntimeError, ValueError, NotImplementedError):  # not in the main thread
        loop.add_signal_handler(signal.SIGTERM, lambda: limit.reschedule(loop.time()))


def _missing(target: str) -> str | None:
    try:
        found = target_of(target)
    except UserError as error:
        return str(error)
    return None if found == target else f"The target {target!r} is not here; this machine has {found!r}."


def _empty(job: Job) -> Result:
    return Result(job=job, judge_version=JUDGE_VERSION, kernwright=__version__, complete=False)


def _speedup(evaluation: Evaluation | None) -> float:
    timings = timings_of(evaluation.outcome) if evaluation is not None else None
    return timings.speedup.estimate if timings is not None else 0.0


def _evaluated(result: Result) -> Iterator[Evaluated]:
    return (event for event in result.events if isinstance(event, Evaluated))


def _spent(job: Job, result: Result) -> tuple[int, int]:
    """Proposals and evaluations in a result that were not home yet when the job was written."""
    drafts = [e for e in result.events if isinstance(e, Drafted) and not isinstance(e.draft, Exhausted)]
    home = {event.node for event in drafts if job.kind == "seeds" and getattr(event.draft, "item", "") in job.used}
    known = {trial.key for trial in job.known}
    evaluations = [e for e in _evaluated(result) if e.node not in home and e.key not in known and not e.reused]
    return sum(event.node not in home for event in drafts), len(evaluations)


def _said(result: Result) -> str:
    """What came of a job, in a few words."""
    if result.report is not None:
        return result.report.to_win.rstrip(".")
    if result.profile is not None:
        return f"looked at by {', '.join(result.profile.tools) or 'nothing'}"
    events = list(_evaluated(result))
    if result.job.kind == "judge":
        return f"{events[-1].evaluation.outcome.kind.upper()} {events[-1].evaluation.outcome.reason}"
    trials = sum(event.purpose == "tune" for event in events)
    best = max((_speedup(event.evaluation) for event in events), default=0.0)
    found = f"best {best:.3f}x" if best else "nothing could be measured"
    return f"{len(events)} evaluated, {trials} of them trials; {found}" if events else "nothing to tune"
