"""Looks at problems as `check` does, and keeps what was found: it is the same for every bench."""

from collections.abc import Callable
from pathlib import Path

from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem
from kernwright.core.report import ProblemReport
from kernwright.store.codec import decode, encode
from kernwright.store.disk import writing

from . import reporting

LOOKS = 3
"""How often a problem is looked at before the machine is given up."""


def kept_at(problem: Problem, target: str, home: Path) -> Path:
    """Where the report of a look at this problem is kept."""
    return home / "problems" / f"{digest((problem.id, JUDGE_VERSION, target))}.json"


def examine(problem: Problem, target: str, plan: Plan, home: Path, say: Callable[[str], None]) -> ProblemReport:
    """Look at a problem as `check` does, and keep the report.

    Raises:
        UserError: it cannot be judged.
        MachineFault: the machine failed at every attempt.
    """
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
    """Let `known_report` find a report from now on; raises UserError or MachineFault where it cannot be written."""
    path = kept_at(problem, target, home)
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(encode(report))
        part.replace(path)


def known_report(problem: Problem, target: str, home: Path) -> ProblemReport | None:
    """The report of an earlier look; None where there was none, or its file is damaged."""
    try:
        return decode(ProblemReport, kept_at(problem, target, home).read_bytes())
    except (FileNotFoundError, MachineFault):
        return None
