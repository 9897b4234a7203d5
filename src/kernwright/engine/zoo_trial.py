"""The zoo put before the judge: how many hacks it refuses, how many honest kernels it accepts."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from kernwright import zoo
from kernwright.core.errors import MachineFault, UserError, unknown_name
from kernwright.core.jobs import JUDGE_VERSION, EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Limits, Plan
from kernwright.core.ports import Executor

from .executors.processes import Processes
from .intake import job_of
from .proportion import Share, share_of

JUDGE = "kernwright.evaluation.judge:Judge"
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

    @property
    def family(self) -> str:
        """One of `FAMILIES`, or `HONEST`."""
        return HONEST if self.kind == "honest" else self.row[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The members of one family."""

    name: str
    as_expected: Share
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
    detection: Share
    """Hacks that were refused, or measured as what they are where they compute the right answer."""
    false_alarms: Share
    """Honest kernels that were refused."""
    clean: bool
    """Whether every member was judged, and ended as it should."""
    rows: tuple[Row, ...]


class Watch(Protocol):
    """Whoever watches."""

    def begins(self, number: int, total: int, member: zoo.Member) -> None: ...
    def says(self, text: str) -> None:
        """The judge's stage."""

    def ended(self, row: Row) -> None: ...


def chosen(target: str, families: Sequence[str], kind: zoo.Kind | None, names: Sequence[str] = ()) -> list[zoo.Member]:
    """Members that run on this target, those that share a problem beside each other and the destructive ones last.

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
    platform = target.partition(":")[0]
    found = [
        member
        for member in everyone
        if platform in member.platforms
        and (not families or (HONEST if member.kind == "honest" else member.row[0]) in families)
        and (not names or member.name in names)
    ]
    if not found:
        what = f" of family {', '.join(families)}" if families else ""
        raise UserError(f"The zoo has no kernels{what} for {target!r}; ask for another family, kind or target.")
    return sorted(found, key=lambda m: (m.destructive, m.problem, str(m.rules), m.name))


def run(members: Sequence[zoo.Member], target: str, home: Path, watch: Watch, evaluator: str = JUDGE) -> ZooReport:
    """Judge these under the quick plan, one after the other, and count.

    Raises:
        UserError: a problem of the zoo cannot be judged here.
        MachineFault: the machine failed before anything was judged.
        KeyboardInterrupt: after Ctrl-C; nothing is left running.
    """
    return asyncio.run(_run(members, target, home, watch, evaluator))


async def _run(members: Sequence[zoo.Member], target: str, home: Path, watch: Watch, evaluator: str) -> ZooReport:
    async with _judge(evaluator, home, watch) as judge:
        probe = await judge.submit(replace(_job(members[0], target, QUICK, home), build_only=True))
        rows = []
        for number, member in enumerate(members, start=1):
            watch.begins(number, len(members), member)
            rows.append(await _row(judge, member, target, home, probe.isolation))
            watch.ended(rows[-1])
    return report(rows, target=target, isolation=probe.isolation, machine=probe.machine)


@asynccontextmanager
async def _judge(evaluator: str, home: Path, watch: Watch) -> AsyncIterator[Executor]:
    judge = Processes(evaluator, str(home), 1, watch.says)
    try:
        yield judge
    finally:
        await judge.close()


async def _row(judge: Executor, member: zoo.Member, target: str, home: Path, isolation: str) -> Row:
    if member.destructive and isolation != CONFINED:
        reason = f"destructive, and only the isolation level {isolation!r} holds here; it needs {CONFINED!r}"
        return _left_out(member, reason)
    began = time.monotonic()
    try:
        evaluation = await judge.submit(_job(member, target, IMPATIENT if member.destructive else QUICK, home))
    except MachineFault as error:
        return _left_out(member, f"the machine failed: {error}", time.monotonic() - began)
    left = bool(member.leaves) and await _stays(member.leaves)
    return judged(member, evaluation, time.monotonic() - began, left=left)


def _job(member: zoo.Member, target: str, plan: Plan, home: Path) -> EvalJob:
    return job_of(zoo.problem(member.problem, member.rules), member.candidate, target, plan, home)


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
    )


def report(rows: Iterable[Row], *, target: str, isolation: str, machine: str) -> ZooReport:
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
    )


def _family(name: str, rows: Iterable[Row]) -> Family:
    mine = [row for row in rows if row.family == name]
    return Family(
        name=name,
        as_expected=_share(mine),
        failed=tuple(row.name for row in mine if row.state in ("got_through", "refused")),
        not_judged=tuple(row.name for row in mine if row.state == "not_judged"),
    )


def _share(rows: Sequence[Row]) -> Share:
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
