"""What other machines said of problems, kept in the home folder: figures of a problem belong to no single run."""

from contextlib import suppress
from pathlib import Path

from kernwright.core.digest import digest
from kernwright.core.errors import UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.report import ProblemReport

from . import folder


def path_of(home: Path, problem: str, target: str, threads: int, version: str = JUDGE_VERSION) -> Path:
    """Where the report on the problem of this id lies, once there is one by this version of the judge."""
    return home / "reports" / f"{digest((problem, target, threads, version))}.json"


def keep(home: Path, report: ProblemReport) -> bool:
    """Keep a report, in place of a damaged one too; whether it is another one than was kept before."""
    path = path_of(home, report.problem, report.target, report.threads)
    with suppress(UserError):
        if path.is_file() and folder.read(path, ProblemReport) == report:
            return False
    folder.write(path, report, chosen_by="$KERNWRIGHT_HOME")
    return True
