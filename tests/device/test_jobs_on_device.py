"""Jobs where the device is: a run that judges nothing itself, by the commands, there and back."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from gpu_candidates import CANDIDATES, PROBLEM

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
TARGET = "cuda"
LIMITS_S, LATE_S = (35, 70, 140), 45
"""How long a first round may take; and how long after that it ends at the latest."""
TUNER = ("--operator", "tuner:trials=7") if find_spec("optuna") else ()


def kernwright(folder: Path, *arguments: str) -> dict[str, Any]:
    """One command in this folder; what it prints with --json."""
    command = [sys.executable, "-m", "kernwright", *arguments, "--json"]
    done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def exported(folder: Path) -> tuple[str, dict[str, str]]:
    """A run with candidates in every language, its jobs written; the run, and kinds by job."""
    (folder / "problem.py").write_text(PROBLEM)
    start: list[str] = []
    for language, text in CANDIDATES.items():
        (folder / f"{language}.py").write_text(text)
        start += ["--start", f"{language}.py"]
    operators = ("--operator", "compiler:only=default", *TUNER)
    begun = kernwright(
        folder, "evolve", "problem.py", "--target", TARGET, "--executor", "jobs", *start, *operators, "--home", "home"
    )
    written = kernwright(folder, "jobs", "export", begun["run"], "-o", "jobs", "--home", "home")
    return begun["run"], {job["job"]: job["kind"] for job in written["jobs"]}


def worked(folder: Path, limit: str) -> dict[str, Any]:
    return kernwright(folder, "jobs", "run", "jobs", "-o", "results", "--limit", limit, "--home", "away")


def brought(folder: Path, run: str) -> dict[str, Any]:
    return kernwright(folder, "jobs", "import", run, "results", "--home", "home")


@dataclass(frozen=True, slots=True)
class Trip:
    """A folder in which a limit struck first and all jobs were then done and imported."""

    folder: Path
    run: str
    reports: list[dict[str, Any]]
    """What the jobs of kind baseline said; an import tells it once."""


def _struck(folder: Path) -> dict[str, Any]:
    """By the first limit that suffices for a judgement on this machine, none of which suffices for all."""
    for limit_s in LIMITS_S:
        struck = worked(folder, f"{limit_s}s")
        assert struck["struck"], struck
        assert struck["seconds"] < limit_s + LATE_S
        if struck["done"]:
            break
    return struck


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Trip:
    folder = tmp_path_factory.mktemp("trip")
    run, kinds = exported(folder)
    assert sorted(kinds.values()) == sorted(["judge"] * 2 + ["baseline", "seeds"] + ["tune"] * 2 * bool(TUNER))
    struck = _struck(folder)
    assert struck["left"]
    kept = brought(folder, run)["imported"]
    assert struck["done"]
    assert kept["results"] >= len(struck["done"])
    before = {path.name: path.read_bytes() for path in (folder / "results").glob("judge-*.json")}
    rest = worked(folder, "8m")
    assert (rest["struck"], rest["left"]) == (False, [])
    assert sorted(rest["done"] + rest["before"]) == sorted(kinds)
    assert rest["before"] == struck["done"]
    assert {name: (folder / "results" / name).read_bytes() for name in before} == before
    return Trip(folder, run, kept["reports"] + brought(folder, run)["imported"]["reports"])


def test_what_was_done_there_is_in_the_journal_here(trip: Trip) -> None:
    folder, run = trip.folder, trip.run
    state = brought(folder, run)
    assert state["imported"]["events"] == 0
    nodes = {(node["operator"], node["intent"]): node for node in state["nodes"]}
    assert {("given", "start"), ("compiler", "start")} <= set(nodes)
    assert [node["verdict"] for node in state["nodes"]] == ["measured"] * len(state["nodes"]), state["nodes"]
    [report] = trip.reports
    assert report["findings"] == []
    assert report["workloads"][0]["compile_ns"] > 0


@pytest.mark.skipif(not TUNER, reason="Optuna is not installed")
def test_knobs_were_tuned_there(trip: Trip) -> None:
    folder, run = trip.folder, trip.run
    state = brought(folder, run)
    by_node = {node["node"]: node for node in state["nodes"]}
    tuned = [node for node in state["nodes"] if node["intent"] == "tune"]
    assert tuned
    for node in tuned:
        assert node["speedup"] > 1.2 * by_node[node["parents"][0]]["speedup"], node
    assert state["spent"]["evaluations"] >= len(state["nodes"]) + 3 * len(tuned)


def test_the_best_is_verified_by_a_second_round(trip: Trip) -> None:
    folder, run = trip.folder, trip.run
    shutil.rmtree(folder / "jobs")
    written = kernwright(folder, "jobs", "export", run, "-o", "jobs", "--only", "judge", "--home", "home")
    assert [job["purpose"] for job in written["jobs"]] == ["confirm"]
    assert worked(folder, "5m")["left"] == []
    state = brought(folder, run)
    assert state["champion"]["verdict"] == "verified"
    assert state["champion"]["node"] == written["jobs"][0]["node"]
