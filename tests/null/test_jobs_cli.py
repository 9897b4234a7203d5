"""The commands around jobs, each step as a user takes it."""

import json
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest
from cli_runs import CANDIDATE, PROBLEM, Kernwright, process
from jobs_runs import TARGET, Trip

from kernwright.cli.jobs import seconds_of
from kernwright.cli.main import run
from kernwright.core.errors import UserError
from kernwright.store.sql import SqlStore


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "plus.py"
    path.write_text(PROBLEM)
    return path


def test_a_run_for_a_target_that_is_not_here(kernwright: Kernwright, problem: Path, tmp_path: Path) -> None:
    begin = (
        "evolve",
        problem,
        "--target",
        "cuda:sm_90a",
        "--operator",
        "mailbox:starts=2",
        "--threads",
        "64",
        "--hold",
    )
    said = kernwright(*begin)  # type: ignore[arg-type]
    assert said.code == 0, said.err
    assert "Nothing of it is judged on this machine: 0 nodes wait for cuda:sm_90a." in said.out
    run = kernwright("runs", "--json").json["runs"][0]["run"]
    (tmp_path / "kernel.py").write_text(CANDIDATE)
    brief = kernwright("ask", run, "--json").json["brief"]
    told = kernwright("tell", run, str(brief), tmp_path / "kernel.py", "--json").json
    assert told == {"run": run, "node": brief, "queued": False, "pending": True}
    assert kernwright("show", run, "--json").json["nodes"][0]["state"] == "pending"
    assert "pending" in kernwright("show", run).out
    said = kernwright("jobs", "export", run, "-o", tmp_path / "jobs")
    assert said.out.startswith(f"Wrote 2 jobs of {run}")
    assert "1 judge, 1 baseline" in said.out
    rows = kernwright("jobs", "export", run, "-o", tmp_path / "jobs", "--json").json["jobs"]
    assert [row["kind"] for row in rows] == ["judge", "baseline"]
    assert "cuda:sm_90a" in kernwright.refused("jobs", "run", tmp_path / "jobs", "-o", tmp_path / "results")
    assert str(problem.parent) not in "".join(path.read_text() for path in (tmp_path / "jobs").rglob("*.json"))


def test_a_run_with_default_operators_says_what_waits(kernwright: Kernwright, problem: Path, tmp_path: Path) -> None:
    said = kernwright("evolve", problem, "--target", "cuda:sm_90a")
    assert said.code == 0, said.err
    assert "kernwright jobs export" in said.out
    rows = kernwright("jobs", "export", "latest", "-o", tmp_path / "jobs", "--json").json["jobs"]
    assert [row["kind"] for row in rows] == ["baseline", "seeds"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--target", "cuda:sm_91"), "cuda:sm_90a"),
        (("--target", "cuda"), "cuda:sm_90a"),
        (("--target", "cuda:sm_90a", "--executor", "processes"), "has nothing to run on"),
    ],
)
def test_targets_that_no_machine_has(
    kernwright: Kernwright, problem: Path, options: tuple[str, ...], sentence: str
) -> None:
    assert sentence in kernwright.refused("evolve", problem, *options)


def test_there_and_back(kernwright: Kernwright, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trip = Trip(tmp_path)
    trip.begin()
    trip.tell("SPEEDUP = 1.5", "USER_ERROR = 'no inputs'")
    away = ("--home", str(trip.away), "-o", str(trip.results))
    assert kernwright("jobs", "export", trip.run, "-o", trip.jobs, "--only", "judge").code == 0
    assert run(["jobs", "run", str(trip.jobs), *away, "--json"]) == 2
    summary = json.loads(capsys.readouterr().out)
    assert (len(summary["done"]), summary["struck"]) == (1, False)
    assert [left["reason"] for left in summary["left"]] == ["no inputs"]
    said = kernwright("jobs", "import", trip.run, trip.results, "--json").json
    assert said["imported"]["events"] == 1
    assert said["nodes"][0]["speedup"] == 1.5
    shown = kernwright("jobs", "import", trip.run, trip.results).out
    assert "0 events that its journal did not have" in shown
    assert "not verified yet" in shown


def test_all_runs_there_and_back(kernwright: Kernwright, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trip = Trip(tmp_path)
    runs = [trip.begin(), trip.begin()]
    for run_ in runs:
        trip.run = run_
        trip.tell("SPEEDUP = 1.5")
    refused = kernwright.refused("jobs", "export", "all", "-o", trip.jobs, "--tune", "0")
    assert "--tune names a node of one run" in refused
    said = kernwright("jobs", "export", "all", "-o", trip.jobs, "--only", "judge", "--json").json
    assert (said["runs"], [row["run"] for row in said["jobs"]]) == (runs, runs)
    told = kernwright("jobs", "export", "all", "-o", trip.jobs, "--only", "judge", "--no-confirm").out
    assert told.count("Wrote 1 job of") == 2
    assert told.count("do them with: kernwright jobs run") == 1
    assert run(["jobs", "run", str(trip.jobs), "--home", str(trip.away), "-o", str(trip.results)]) == 0
    capsys.readouterr()
    with closing(SqlStore(trip.home)) as store, store.lock(runs[0]):
        assert run(["jobs", "import", "all", str(trip.results), "--home", str(trip.home)]) == 2
    printed = capsys.readouterr()
    assert f"{runs[1]}: " in printed.out
    assert "best 1.500x" in printed.out
    assert f"{runs[0]}: " in printed.err
    said = kernwright("jobs", "import", "all", trip.results, "--json").json
    assert [(row["run"], row["events"] > 0) for row in said["imported"]] == [(runs[0], True), (runs[1], False)]
    assert said["refused"] == {}


def test_a_candidate_that_nobody_asked_for(kernwright: Kernwright, tmp_path: Path) -> None:
    trip = Trip(tmp_path)
    trip.begin()
    (tmp_path / "kernel.py").write_text(CANDIDATE)
    kernel = tmp_path / "kernel.py"
    first = kernwright("tell", trip.run, "new", kernel, "--json").json
    assert (first["node"], first["pending"]) == (0, True)
    second = kernwright("tell", trip.run[9:], "new", kernel, "--parent", "0", "--json").json  # without its date
    assert second["node"] == 1
    nodes = kernwright("show", trip.run, "--json").json["nodes"]
    assert [(node["intent"], node["parents"]) for node in nodes] == [("start", []), ("improve", [0])]
    assert "--parent goes with 'new'" in kernwright.refused("tell", trip.run, "1", kernel, "--parent", "0")
    assert "should be a number" in kernwright.refused("tell", trip.run, "newest", kernel)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_and_keeps_what_is_finished(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    trip = Trip(tmp_path)
    trip.begin()
    trip.tell("SPEEDUP = 1.5", "SPEEDUP = 1.6; SLEEP_S = 60")
    trip.export("judge")
    away = process("jobs", "run", trip.jobs, "-o", trip.results, "--home", trip.away)
    deadline = time.monotonic() + 30
    while not list(trip.results.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    began = time.monotonic()
    away.send_signal(sent)
    out, err = away.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert away.returncode == code, err
    assert "Go on with: kernwright jobs run" in out + err
    assert "Traceback" not in err
    assert trip.bring().events == 1


def test_later_with_the_command(kernwright: Kernwright, tmp_path: Path) -> None:
    trip = Trip(tmp_path)
    trip.begin(executor="inline")
    (tmp_path / "kernel.py").write_text(CANDIDATE)
    brief = kernwright("ask", trip.run, "--json").json["brief"]
    assert "not judged" in kernwright("tell", trip.run, str(brief), tmp_path / "kernel.py", "--later").out
    assert kernwright("show", trip.run, "--json").json["nodes"][0]["verdict"] is None


def test_figures_of_several_devices_are_told_apart(kernwright: Kernwright, tmp_path: Path) -> None:
    trip = Trip(tmp_path)
    trip.begin()
    texts = (f"SPEEDUP = 1.{n}; GPU = 'NVIDIA H{100 if n == 3 else 200}'" for n in range(1, 5))
    nodes = trip.tell(*texts, "WRONG = True; GPU = 'NVIDIA L4'")
    trip.export("judge")
    trip.work()
    out = kernwright("jobs", "import", "all", trip.results, "--home", trip.home).out
    assert "several devices" in out
    shown = kernwright("show", trip.run, "--home", trip.home)
    assert f"NVIDIA H200: nodes {nodes[0]}-{nodes[1]}, {nodes[3]}" in " ".join(shown.out.split())
    devices = kernwright("show", trip.run, "--home", trip.home, "--json").json["devices"]
    assert devices == {"NVIDIA H100": [nodes[2]], "NVIDIA H200": [*nodes[:2], nodes[3]]}


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("25m", 1500), ("1h30m", 5400), ("0.5m", 30), ("5m3", 303)]
)
def test_times(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "5x", "1 h", "30 30", "10-5"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UserError, match="25m, 90s or 1h30m"):
        seconds_of(text)


def test_a_limit_says_how_the_same_jobs_go_on(kernwright: Kernwright, tmp_path: Path) -> None:
    trip = Trip(tmp_path)
    trip.begin()
    trip.tell("SPEEDUP = 1.5; SLEEP_S = 60.0")
    trip.export()
    given = ("--limit", "0.1s", "--slots", "2", "--target", TARGET, "--home", str(trip.home), "--run", trip.run)
    said = kernwright("jobs", "run", trip.jobs, "-o", trip.results, *given)
    assert f"Go on with: kernwright jobs run {trip.jobs} -o {trip.results} {' '.join(given)}\n" in said.out
