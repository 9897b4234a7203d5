"""Looks at problems as `check` does, and keeps what was found: it is the same for every bench."""

from collections.abc import Callable
from pathlib import Path

from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem
from kernwright.core.report import ProblemReport
from kernwright.platforms.absent import NO_DEVICE
from kernwright.store.codec import decode, encode
from kernwright.store.disk import writing

from . import reporting
from .jobs import folder, reports
from .targets import target_of

LOOKS = 3
"""How often a problem is looked at before the machine is given up."""


def kept_at(problem: Problem, target: str, home: Path) -> Path:
    """Where the report of a look at this problem is kept."""
    return home / "problems" / f"{digest((problem.id, JUDGE_VERSION, target))}.json"


def examine(problem: Problem, target: str, plan: Plan, home: Path, say: Callable[[str], None]) -> ProblemReport:
    """Look at a problem as `check` does, and keep the report.

    Raises:
        UserError: it cannot be judged, or the target is not here: what is timed in its place says nothing of it.
        MachineFault: the machine failed at every attempt.
    """
    target_of(target)
    for attempt in range(LOOKS):
        try:
            report = reporting.report(problem, target, plan, home, say)
            break
        except MachineFault:
            if attempt + 1 == LOOKS:
                raise
    keep(report, problem, target, home)
    return report


def keep(report: ProblemReport, problem: Problem, target: str, home: Path) -> None:
    """Let `known_report` find a report from now on.

    Raises:
        UserError: its figures are not the target's, or the folder cannot be written.
        MachineFault: the disk is full or failed.
    """
    if report.machine.startswith(NO_DEVICE):
        raise UserError(
            f"The report on {problem.name!r} was not timed on {target!r}, which this machine lacks, so it is not kept; "
            "look at the problem where the target is."
        )
    path = kept_at(problem, target, home)
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(encode(report))
        part.replace(path)


def known_report(problem: Problem, target: str, home: Path) -> ProblemReport | None:
    """The report of an earlier look; None where there was none, it is damaged, or its figures are not the target's."""
    try:
        report = decode(ProblemReport, kept_at(problem, target, home).read_bytes())
    except (FileNotFoundError, MachineFault):
        return None
    return None if report.machine.startswith(NO_DEVICE) else report


def brought_report(problem: Problem, target: str, threads: int, home: Path) -> ProblemReport | None:
    """What a machine that has the target sent home about a problem; None where nothing came, or it is damaged."""
    path = reports.path_of(home, problem.id, target, threads)
    try:
        return folder.read(path, ProblemReport) if path.is_file() else None
    except UserError:
        return None
