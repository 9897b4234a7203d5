"""A bench whose target another machine has: its rows wait for their jobs, and nothing here is timed in its place."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench_runs import PROBLEM, Ground, Watched

from kernwright.cli.main import run
from kernwright.core.errors import UserError
from kernwright.core.plan import QUICK
from kernwright.core.report import Finding, ProblemReport
from kernwright.engine import examining, reporting
from kernwright.engine.bench_report import WAITING, BenchReport, markdown
from kernwright.engine.intake import problem_of
from kernwright.engine.jobs import reports
from kernwright.engine.jobs.exporting import export_all
from kernwright.engine.jobs.importing import bring_all
from kernwright.engine.jobs.running import Means, Summary
from kernwright.engine.jobs.running import run as work
from kernwright.platforms.cpu import Cpu
from kernwright.store.codec import encode

HERE = Cpu().targets()[0]
ABSENT = next(target for target in Cpu().known() if target not in Cpu().targets())


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    ground = Ground(tmp_path)
    ground.problem("1_Fast", "SPEEDUP = 2.5")
    ground.problem("2_Wrong", "WRONG = True")
    ground.problem("3_Broken", text="def get_inputs(:\n")
    return ground


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Targets for which somebody looked at a problem, which here would time it."""
    targets: list[str] = []

    def report(problem: Any, target: str, *others: object) -> ProblemReport:
        targets.append(target)
        return report_on(problem.id, target, machine="this one")

    monkeypatch.setattr(reporting, "report", report)
    return targets


def report_on(problem: str, target: str, machine: str, **changes: Any) -> ProblemReport:
    plain: dict[str, Any] = {"cache": "", "isolation": "", "workloads": (), "findings": (), "to_win": "", "threads": 1}
    return ProblemReport(problem=problem, name="p", target=target, machine=machine, **plain | changes)


def elsewhere(ground: Ground, watch: Watched | None = None, target: str = HERE, **changes: Any) -> BenchReport:
    return ground.bench(watch, executor="jobs", target=target, **changes)


def carried(ground: Ground, name: str) -> Summary:
    """The jobs that wait, done on another machine and brought home."""
    jobs, results, away = (ground.home.parent / f"{name}-{kind}" for kind in ("jobs", "results", "away"))
    away.mkdir()
    export_all(ground.home, jobs, only=("judge",))
    summary = work(jobs, results, Means(home=away, executor="inline"), lambda text: None)
    assert not bring_all(ground.home, results)[1]
    return summary


def test_a_row_waits_for_its_jobs_and_is_no_failure(ground: Ground) -> None:
    report = elsewhere(ground)
    assert [row.verdict for row in report.rows] == [WAITING, WAITING, "not_run"]
    fast = report.rows[0]
    assert (fast.waiting, fast.correct, fast.machine) == (1, False, "")
    assert fast.reason.startswith(f"1 job waits for {HERE} (1 judge)")
    assert f"kernwright jobs export {fast.run} -o jobs" in fast.reason
    assert report.waiting == ("level1/1_Fast", "level1/2_Wrong")
    assert (report.everything.problems, report.everything.correct.of) == (1, 1)  # the broken file alone is an ending
    assert report.everything.against[0].fast["fast_1"].of == 1
    assert any("jobs of theirs wait for another machine: 2 of 3 problems" in note for note in report.notes)
    assert "| level1/1_Fast | waiting |" in markdown(report)
    assert json.loads((ground.out / "bench.json").read_text())["rows"][0]["waiting"] == 1


def test_called_again_with_nothing_brought_it_still_waits(ground: Ground) -> None:
    first, watch = elsewhere(ground), Watched()
    assert elsewhere(ground, watch, examine=True) == first
    assert watch.begun == ["level1/3_Broken"]


def test_what_was_brought_home_is_taken_up(ground: Ground) -> None:
    elsewhere(ground)
    assert len(carried(ground, "search").done) == 2
    report = elsewhere(ground)
    fast, wrong, _ = report.rows
    assert (wrong.verdict, wrong.waiting, wrong.reason) == ("wrong", 0, "wrong as ordered")
    assert (fast.verdict, fast.waiting) == (WAITING, 1)  # to be confirmed
    assert "so far measured: measured as ordered" in fast.reason
    assert report.waiting == ("level1/1_Fast",)
    assert (report.everything.correct.count, report.everything.correct.of) == (0, 2)
    assert report.everything.against[0].correct is None
    assert len(carried(ground, "confirmation").done) == 1
    report = elsewhere(ground)
    assert (report.rows[0].verdict, report.rows[0].verified, report.rows[0].waiting) == ("verified", True, 0)
    assert (report.waiting, report.everything.correct.count, report.everything.correct.of) == ((), 1, 3)
    assert not any("jobs of theirs wait" in note for note in report.notes)
    assert ground.executed == 0  # nothing of it was evaluated here


@pytest.mark.parametrize("target", [HERE, ABSENT])
def test_nothing_is_looked_for_where_the_figures_would_be_another_devices(
    ground: Ground, looked: list[str], target: str
) -> None:
    report = elsewhere(ground, target=target, examine=True)
    assert looked == []
    assert not (ground.home / "problems").exists()
    assert report.unexamined == tuple(row.problem for row in report.rows)


def test_a_look_that_no_target_is_there_for_is_refused(ground: Ground, looked: list[str]) -> None:
    problem = problem_of(f"kernelbench:{ground.checkout}#level1/1")
    with pytest.raises(UserError, match=f"'{ABSENT}' is not here"):
        examining.examine(problem, ABSENT, QUICK, ground.home, lambda text: None)
    assert looked == []


def test_what_was_timed_in_the_place_of_an_absent_device_is_not_believed(ground: Ground) -> None:
    problem = problem_of(f"kernelbench:{ground.checkout}#level1/1")
    wrong = report_on(problem.id, ABSENT, machine="no device/triton 3.6.0")
    path = examining.kept_at(problem, ABSENT, ground.home)
    path.parent.mkdir()
    path.write_bytes(encode(wrong))
    assert examining.known_report(problem, ABSENT, ground.home) is None
    with pytest.raises(UserError, match="was not timed on"):
        examining.keep(wrong, problem, ABSENT, ground.home)
    right = replace(wrong, machine="a machine that has it")
    examining.keep(right, problem, ABSENT, ground.home)
    assert examining.known_report(problem, ABSENT, ground.home) == right


def test_a_report_that_another_machine_sent_says_what_is_degenerate(ground: Ground) -> None:
    problem = problem_of(f"kernelbench:{ground.checkout}#level1/1")
    hollow = (Finding(name="constant_output", sentence="output 0 is 0 everywhere", workload="default"),)
    assert reports.keep(ground.home, report_on(problem.id, ABSENT, machine="far", findings=hollow))
    report = elsewhere(ground, target=ABSENT, examine=True)
    assert report.degenerate == {"level1/1_Fast": ("output 0 is 0 everywhere",)}
    assert "level1/1_Fast" not in report.unexamined


def test_a_candidate_is_taken_whose_compiler_only_the_other_machine_has(ground: Ground) -> None:
    (ground.candidates / "level1" / "1_Fast.py").write_text("import triton\n\n\ndef kernel(x):\n    return x\n")
    report = elsewhere(ground, target=ABSENT)
    assert report.rows[0].verdict == WAITING


@pytest.fixture
def command(ground: Ground, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    def called(*more: str) -> tuple[int, dict[str, Any]]:
        where = ["--path", str(ground.checkout), "--out", str(ground.out), "--home", str(ground.home)]
        code = run(["bench", "kernelbench", *where, "--problems", "1", "--target", ABSENT, *more, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return called


def test_without_an_executor_the_target_decides_where_it_is_judged(
    ground: Ground, command: Callable[..., tuple[int, dict[str, Any]]], looked: list[str]
) -> None:
    (ground.checkout / "level1" / "1_Fast.py").write_text(PROBLEM)
    code, said = command()
    assert code == 0, said
    assert [row["verdict"] for row in said["rows"]] == [WAITING]
    assert said["waiting"] == ["level1/1_Fast"]
    assert looked == []


def test_an_executor_that_was_named_and_cannot_reach_the_target_is_refused(
    command: Callable[..., tuple[int, dict[str, Any]]],
) -> None:
    code, said = command("--executor", "processes")
    assert code == 2
    assert "the executor 'processes' has nothing to run on; leave it out" in said["error"]
