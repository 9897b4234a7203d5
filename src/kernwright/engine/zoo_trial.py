"""The zoo put before the judge: how many hacks it refuses, how many honest kernels it accepts."""

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from kernwright import zoo
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import MachineFault, UserError, unknown_name
from kernwright.core.jobs import JUDGE_VERSION, EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Limits, Plan
from kernwright.core.ports import Executor
from kernwright.core.problem import Problem
from kernwright.core.spec import JUDGE

from .executors.processes import Processes
from .intake import job_of
from .proportion import Proportion, share_of
from .zoo_queue import Queue

FAMILIES = ("A", "B", "C", "D")
"""Of the threat model: the answer, caching, the clock, the harness and the machine."""
HONEST = "honest"
CONFINED = "namespaces"
"""The isolation under which a kernel may try to kill, fill and overrun whatever it reaches."""
IMPATIENT = replace(QUICK, limits=replace(Limits(), build_s=12.0, load_s=6.0, call_s=4.0))
"""For kernels that use up every limit they are given."""
ACCEPTED = frozenset({"measured", "verified"})
GRACE_S = 2.0
"""For a process that was killed to be gone."""
State = Literal["as_expected", "got_through", "refused", "not_judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the judge made of one member."""

    name: str
    kind: zoo.Kind
    row: str
    """Of the threat model."""
    summary: str
    state: State
    """`got_through`: a hack that was believed. `refused`: an honest kernel that was not. `not_judged`: it was left out,
    the machine failed, or a hack came to an end that says nothing of the judge."""
    verdict: str
    """Kind of the outcome; empty where there is none."""
    reason: str
    speedup: float | None = None
    seconds: float = 0.0
    stage_s: dict[str, float] = field(default_factory=dict)
    """Seconds of those by the evaluation's stages, `wait` for a lease among them."""
    evidence: tuple[str, ...] = ()
    """Where the judge was wrong: how many cases its checks tried, and its notes."""

    @property
    def family(self) -> str:
        """One of `FAMILIES`, or `HONEST`."""
        return HONEST if self.kind == "honest" else self.row[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The members of one family."""

    name: str
    as_expected: Proportion
    """Of the hacks, those refused; of the honest kernels, those accepted. Those not judged do not count."""
    failed: tuple[str, ...]
    not_judged: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooReport:
    """The two rates, by family and together, and every member."""

    target: str
    isolation: str
    """The level that held."""
    machine: str
    judge_version: str
    families: tuple[Family, ...]
    detection: Proportion
    """Hacks that were refused, or measured as what they are where they compute the right answer."""
    false_alarms: Proportion
    """Honest kernels that were refused."""
    clean: bool
    """Whether every member was judged, and ended as it should."""
    rows: tuple[Row, ...]
    elsewhere: tuple[str, ...] = ()
    """Kernels that were asked for, and are for other kinds of device alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was asked for."""

    members: tuple[zoo.Member, ...]
    """Those for the target, those that share a problem beside each other and the destructive ones last."""
    elsewhere: tuple[str, ...]
    """Names of the others."""


class Watch(Protocol):
    """Whoever watches; where several are judged at a time, they take turns in calling it."""

    def begins(self, total: int, member: zoo.Member) -> None: ...
    def says(self, member: zoo.Member, text: str) -> None:
        """The judge's stage."""

    def ended(self, row: Row) -> None: ...


def chosen(target: str, families: Sequence[str], kind: zoo.Kind | None, names: Sequence[str] = ()) -> Choice:
    """Members of these families, of this kind, of these names; all of them where nothing is said.

    Raises:
        UserError: there is no such family or member, or nothing is left.
    """
    for family in families:
        if family not in (*FAMILIES, HONEST):
            raise unknown_name("family of the zoo", family, (*FAMILIES, HONEST))
    kinds: tuple[zoo.Kind, ...] = ("hacks", "honest") if kind is None else (kind,)
    everyone = [member for each in kinds for member in zoo.members(each)]
    for name in names:
        if name not in {member.name for member in everyone}:
            raise unknown_name("kernel of the zoo", name, [member.name for member in everyone])
    platform = _platform(target)
    asked = [
        member
        for member in everyone
        if (not families or (HONEST if member.kind == "honest" else member.row[0]) in families)
        and (not names or member.name in names)
    ]
    found = [member for member in asked if platform in member.platforms]
    if not found:
        what = f" of family {', '.join(families)}" if families else ""
        raise UserError(f"The zoo has no kernels{what} for {target!r}; ask for another family, kind or target.")
    return Choice(
        members=tuple(sorted(found, key=lambda m: (_phase(m), m.problem, str(m.rules), m.name))),
        elsewhere=tuple(sorted(member.name for member in asked if member not in found)),
    )


def run(
    choice: Choice,
    target: str,
    home: Path,
    watch: Watch,
    evaluator: str = JUDGE,
    *,
    jobs: int = 1,
    until: float = math.inf,
    baselines: tuple[str, ...] = QUICK.baselines,
) -> ZooReport:
    """Judge these under the quick plan, `jobs` at a time, and count; none begins after `until`, of `time.monotonic()`.
    With eager alone as the baseline hacks show to be faster more easily.

    Raises:
        UserError: nothing can be judged here.
        MachineFault: the machine failed before anything was judged.
        KeyboardInterrupt: after Ctrl-C; nothing is left running.
    """
    trial = _Trial(choice, target, home, watch, until, baselines)
    return asyncio.run(trial.run(evaluator, jobs))


class _Trial:
    """The members on their way through several judges."""

    def __init__(
        self, choice: Choice, target: str, home: Path, watch: Watch, until: float, baselines: tuple[str, ...]
    ) -> None:
        self._choice, self._target, self._home, self._watch, self._until = choice, target, home, watch, until
        self._baselines = baselines
        self._rows: list[Row] = []
        self._isolation = ""

    async def run(self, evaluator: str, jobs: int) -> ZooReport:
        members = self._choice.members
        async with AsyncExitStack() as stack:
            lanes = [_Lane(evaluator, self._home, self._watch) for _ in range(max(1, min(jobs, len(members))))]
            for lane in lanes:
                stack.push_async_callback(lane.judge.close)
            probe = await lanes[0].judge.submit(_probe(members[0], self._target, self._home))
            self._isolation = probe.isolation
            for phase in range(3):  # nobody is timed beside one that takes what it can get
                queue = Queue([member for member in members if _phase(member) == phase])
                async with asyncio.TaskGroup() as group:
                    for lane in lanes if phase < 2 else lanes[:1]:
                        group.create_task(self._judged_by(lane, queue))
        order = {member.name: place for place, member in enumerate(members)}
        self._rows.sort(key=lambda row: order[row.name])
        return report(
            self._rows,
            target=self._target,
            isolation=probe.isolation,
            machine=probe.machine,
            elsewhere=self._choice.elsewhere,
        )

    async def _judged_by(self, lane: "_Lane", queue: Queue) -> None:
        while time.monotonic() < self._until and (member := queue.next_after(lane.member)) is not None:
            lane.member = member
            self._watch.begins(len(self._choice.members), member)
            row = await self._row(lane.judge, member)
            queue.done(member)
            self._rows.append(row)
            self._watch.ended(row)

    async def _row(self, judge: Executor, member: zoo.Member) -> Row:
        if member.destructive and self._isolation != CONFINED:
            reason = f"destructive, and only the isolation level {self._isolation!r} holds here; it needs {CONFINED!r}"
            return _left_out(member, reason)
        began = time.monotonic()
        plan = replace(IMPATIENT if member.destructive else QUICK, baselines=self._baselines)
        job = _job(member, self._target, plan, self._home)
        try:
            evaluation = await judge.submit(job)
            if perhaps_by_chance(member, evaluation):
                evaluation = await judge.submit(job)
        except MachineFault as error:
            return _left_out(member, f"the machine failed: {error}", time.monotonic() - began)
        except UserError as error:
            return _left_out(member, f"its problem was not judged: {error}", time.monotonic() - began)
        left = bool(member.leaves) and await _stays(member.leaves)
        return judged(member, evaluation, time.monotonic() - began, left=left)


def _phase(member: zoo.Member) -> int:
    return 2 if member.alone else int(member.destructive)


class _Lane:
    """A judge that stays warm, and what it is at."""

    def __init__(self, evaluator: str, home: Path, watch: Watch) -> None:
        self.member: zoo.Member | None = None
        self._watch = watch
        self.judge: Executor = Processes(evaluator, str(home), 1, self._says)

    def _says(self, text: str) -> None:
        if self.member is not None:
            self._watch.says(self.member, text)


def _job(member: zoo.Member, target: str, plan: Plan, home: Path) -> EvalJob:
    return job_of(_problem(member, target), member.candidate, target, plan, home)


def _problem(member: zoo.Member, target: str) -> Problem:
    return zoo.problem(member.problem, member.rules, platform=_platform(target))


def _platform(target: str) -> str:
    return target.partition(":")[0]


def _probe(member: zoo.Member, target: str, home: Path) -> EvalJob:
    """What shows how this machine confines: nobody has built this text before, so that a process is started for it."""
    text = f"def kernel(*given):\n    return given  # {time.time_ns()}\n"
    candidate = Candidate(language="torch", files=(SourceFile(name="probe.py", text=text),))
    return replace(job_of(_problem(member, target), candidate, target, QUICK, home), build_only=True)


def perhaps_by_chance(member: zoo.Member, evaluation: Evaluation) -> bool:
    """Whether a hack that computes the right answer was measured as faster, as one in forty of those is that gain
    nothing at all: judged again, in fresh processes, only one that gains shows so again."""
    timings = timings_of(evaluation.outcome)
    return member.contained_ok and timings is not None and timings.faster


def judged(member: zoo.Member, evaluation: Evaluation, seconds: float = 0.0, *, left: bool = False) -> Row:
    """What an evaluation means for a member; `left`: a process that it started outlived its evaluation."""
    outcome, timings = evaluation.outcome, timings_of(evaluation.outcome)
    reason = outcome.reason
    if member.kind == "honest":
        state: State = "as_expected" if outcome.kind in member.expect else "refused"
    elif left:
        state, reason = "got_through", f"its process {member.leaves!r} outlived the evaluation; {reason}"
    elif outcome.kind in ACCEPTED:
        contained = member.contained_ok and timings is not None and not timings.faster
        state = "as_expected" if contained else "got_through"
    elif outcome.kind in member.expect:
        state = "as_expected"
    else:  # a hack that did not build, say, was not seen through
        state, reason = "not_judged", f"expected {' or '.join(sorted(member.expect))}; {reason}"
    return Row(
        name=member.name,
        kind=member.kind,
        row=member.row,
        summary=member.summary,
        state=state,
        verdict=outcome.kind,
        reason=reason,
        speedup=timings.speedup.estimate if timings else None,
        seconds=seconds,
        stage_s=evaluation.stage_s,
        evidence=_evidence(evaluation) if state in ("got_through", "refused") else (),
    )


def _evidence(evaluation: Evaluation) -> tuple[str, ...]:
    tried = [(check.name, check.evidence["cases"]) for check in evaluation.checks if "cases" in check.evidence]
    return (*(f"{name}: {cases:.0f} cases" for name, cases in tried), *evaluation.notes)


def report(
    rows: Iterable[Row], *, target: str, isolation: str, machine: str, elsewhere: tuple[str, ...] = ()
) -> ZooReport:
    """The rates over these rows."""
    rows = tuple(rows)
    hacks, honest = ([row for row in rows if row.kind == kind] for kind in ("hacks", "honest"))
    accepted = _share(honest)
    return ZooReport(
        target=target,
        isolation=isolation,
        machine=machine,
        judge_version=JUDGE_VERSION,
        families=tuple(_family(name, rows) for name in (*FAMILIES, HONEST) if any(r.family == name for r in rows)),
        detection=_share(hacks),
        false_alarms=share_of(accepted.of - accepted.count, accepted.of),
        clean=all(row.state == "as_expected" for row in rows),
        rows=rows,
        elsewhere=elsewhere,
    )


def _family(name: str, rows: Iterable[Row]) -> Family:
    mine = [row for row in rows if row.family == name]
    return Family(
        name=name,
        as_expected=_share(mine),
        failed=tuple(row.name for row in mine if row.state in ("got_through", "refused")),
        not_judged=tuple(row.name for row in mine if row.state == "not_judged"),
    )


def _share(rows: Sequence[Row]) -> Proportion:
    counted = [row for row in rows if row.state != "not_judged"]
    return share_of(sum(row.state == "as_expected" for row in counted), len(counted))


def _left_out(member: zoo.Member, reason: str, seconds: float = 0.0) -> Row:
    return Row(
        name=member.name,
        kind=member.kind,
        row=member.row,
        summary=member.summary,
        state="not_judged",
        verdict="",
        reason=reason,
        seconds=seconds,
    )


async def _stays(name: str) -> bool:
    """Whether a process of this name is still there after a moment's grace."""
    deadline = time.monotonic() + GRACE_S
    while any(_name(process) == name for process in Path("/proc").glob("[0-9]*")):
        if time.monotonic() > deadline:
            return True
        await asyncio.sleep(0.05)
    return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""
