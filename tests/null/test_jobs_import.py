"""An import brings home all results of a run or none, wherever it is interrupted."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_runs import journal, kinds
from jobs_runs import MAILBOX, TARGET, Trip, far

from kernwright import __version__
from kernwright.core.brief import Exhausted
from kernwright.core.errors import UserError
from kernwright.core.events import Entry
from kernwright.core.graph import Graph
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.report import ProblemReport
from kernwright.engine import service
from kernwright.engine.jobs import reports
from kernwright.engine.jobs.facts import Result
from kernwright.engine.jobs.folder import ResultFolder
from kernwright.engine.jobs.importing import bring

KILLED = """
import os, signal, sys
from pathlib import Path
from kernwright.engine.jobs.importing import bring

def observe(entry, graph):
    if entry.event.kind == "picked":
        os.kill(os.getpid(), signal.SIGKILL)

bring(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), observe)
"""


@pytest.fixture
def trip(tmp_path: Path) -> Trip:
    return Trip(tmp_path)


def there(trip: Trip) -> None:
    """A judgement, seeds, a tuning and a report that wait to be brought home."""
    tuner = "SPEEDUP = 1.1; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}"
    trip.begin(MAILBOX, far("SPEEDUP = 1.3", "unusable: no code in it", "SPEEDUP = 1.5"))
    [node] = trip.tell(tuner)
    jobs = trip.export("judge", "seeds", "tune", "baseline", tune=(node,)).jobs
    trip.export("judge", "seeds", "tune", tune=(node,))
    trip.work()
    [baseline] = [job for job in jobs if job.kind == "baseline"]
    report = ProblemReport(
        problem=baseline.problem,
        name="nothing",
        target=TARGET,
        machine="far",
        threads=baseline.plan.threads,
        cache="warm",
        isolation="none",
        workloads=(),
        findings=(),
        to_win="nothing to win",
    )
    ResultFolder(trip.results).write(
        Result(job=baseline, judge_version=JUDGE_VERSION, kernwright=__version__, complete=True, report=report)
    )


def interrupted_at(kind: str, number: int) -> Callable[[Entry, Graph], None]:
    seen = []

    def observe(entry: Entry, _: Graph) -> None:
        seen.append(entry.event.kind)
        if seen.count(kind) == number:
            raise KeyboardInterrupt

    return observe


@pytest.mark.parametrize(("kind", "number"), [("resumed", 1), ("evaluated", 1), ("picked", 1), ("picked", 3)])
def test_an_import_that_is_interrupted_brought_nothing_and_is_repeated(trip: Trip, kind: str, number: int) -> None:
    there(trip)
    before = journal(trip.home, trip.run)
    with pytest.raises(KeyboardInterrupt):
        bring(trip.home, trip.run, trip.results, interrupted_at(kind, number))
    assert journal(trip.home, trip.run) == before
    assert not list(trip.home.glob("reports/*"))
    done = trip.bring()
    assert len(done.reports) == 1
    graph = service.load(trip.home, trip.run)
    assert all(node.draft is not None for node in graph.nodes)
    assert graph.spent.proposals == sum(not isinstance(node.draft, Exhausted) for node in graph.nodes)
    assert trip.bring().events == 0


def test_an_import_that_is_killed_brought_nothing(trip: Trip) -> None:
    there(trip)
    before = journal(trip.home, trip.run)
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-c", KILLED, trip.home, trip.run, trip.results]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    assert journal(trip.home, trip.run) == before
    assert trip.bring().events > 3


def test_a_damaged_report_at_home_is_replaced_and_keeps_nothing_from_coming(trip: Trip) -> None:
    there(trip)
    trip.bring()
    whole = kinds(trip.home, trip.run)
    [kept] = (trip.home / "reports").iterdir()
    text = kept.read_text()
    trip.root = trip.root / "again"
    trip.root.mkdir()
    there(trip)
    damaged = trip.home / "reports" / kept.name
    damaged.parent.mkdir()
    damaged.write_text(text[:-200])
    assert len(trip.bring().reports) == 1
    assert kinds(trip.home, trip.run) == whole
    assert damaged.read_text() == text


def test_a_report_that_cannot_be_kept_comes_after_the_journal(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    there(trip)

    def refused(*_: object) -> bool:
        raise UserError("no room for reports")

    with monkeypatch.context() as patch:
        patch.setattr(reports, "keep", refused)
        with pytest.raises(UserError, match="no room for reports"):
            trip.bring()
    assert kinds(trip.home, trip.run).count("picked") > 3
    again = trip.bring()
    assert (again.events, len(again.reports)) == (0, 1)
