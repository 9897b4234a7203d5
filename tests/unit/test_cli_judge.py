"""`judge --json` is a contract: the same keys for every verdict, and nothing that was not measured has a number."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernwright.cli.contract import judged
from kernwright.cli.verdict_view import evaluation_view
from kernwright.core.outcome import Built, Checked, Evaluation, Interval, Measured, Suspicious, Verified
from kernwright.platforms.cpu import Cpu
from kernwright.testing.null import null_timings

pytestmark = pytest.mark.judged

PROMISED = set(
    "verdict reason faster speedup speedup_low speedup_high speedup_call speedup_eager speedup_compile baseline "
    "workloads isolation checks candidate problem plan target machine notes environment resources stage_s seeds "
    "threads cache aa_floor log where".split()
)
FIGURES = set("speedup speedup_low speedup_high speedup_call speedup_eager speedup_compile baseline workloads".split())
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 512)]
"""
CANDIDATES = {
    "measured": "import torch\n\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n",
    "wrong": "def kernel(x):\n    return x * 1.0\n",
    "rejected": "def kernels(x):\n    return x\n",
    "build_failed": "from kernwright.languages.cpp_loader import load\nload('int f(\\n')\ndef kernel(x): return x\n",
    "crashed": "def kernel(x):\n    raise ValueError('as ordered')\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Path:
    folder = informed(tmp_path_factory.mktemp("judge"))
    (folder / "problem.py").write_text(PROBLEM)
    return folder


def command(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "kernwright", *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("verdict", CANDIDATES)
def test_every_verdict_keeps_the_contract(home: Path, verdict: str) -> None:
    file = home / f"{verdict}.py"
    file.write_text(CANDIDATES[verdict])
    done = command("judge", home / "problem.py", file, "--plan", "quick", "--home", home, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == verdict
    assert said.keys() >= PROMISED
    assert said["reason"]
    numbers = {name for name in FIGURES if said[name] is not None}
    assert numbers == (FIGURES if verdict == "measured" else set())
    assert (said["log"] is not None) == (verdict in ("build_failed", "crashed"))
    assert "samples" not in said


def test_a_processor_that_is_not_here_is_built_for(home: Path) -> None:
    file = home / "elsewhere.py"
    file.write_text(CANDIDATES["measured"])
    absent = next(target for target in Cpu().known() if target not in Cpu().targets())
    arguments = ("--plan", "quick", "--target", absent, "--home", home, "--json")
    done = command("judge", home / "problem.py", file, *arguments)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["verdict"], said["target"]) == ("built", absent)
    assert f"{absent} is not on this machine" in said["reason"]


def test_a_syntax_error_is_the_candidates_and_a_sentence_for_people(home: Path) -> None:
    file = home / "syntax.py"
    file.write_text("def kernel(x:\n")
    done = command("judge", home / "problem.py", file, "--plan", "quick", "--home", home)
    assert done.returncode == 0
    assert "line 1" in done.stdout
    assert "\x1b[" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return torch.softmax(x, dim=-1)", "import os; os._exit(0)", "ended its process"),
        ("torch.randn(64, 512)", "torch.randn(0, 512)", "no elements"),
    ],
)
def test_a_problem_that_cannot_be_judged_is_the_users(home: Path, old: str, new: str, said: str) -> None:
    (home / "bad.py").write_text(PROBLEM.replace(old, new))
    (home / "any.py").write_text(CANDIDATES["measured"])
    done = command("judge", home / "bad.py", home / "any.py", "--plan", "quick", "--home", home, "--json")
    assert done.returncode == 2
    assert said in json.loads(done.stdout)["error"]


def test_a_suspicious_speedup_is_no_speedup() -> None:
    timings = null_timings(3.0)
    said = judged(_evaluation(Suspicious(reason="too good", timings=timings)))
    assert {said[name] for name in FIGURES} == {None}
    assert said["faster"] is False
    assert said["doubtful"]["speedup"] == 3.0
    assert judged(_evaluation(Measured(reason="", timings=timings)))["doubtful"] is None


def test_why_a_baseline_that_works_has_no_speedup_is_said() -> None:
    """It is timed once, and where it is far slower then, no further process is started for it."""
    then = Interval(estimate=1.9, low=1.8, high=2.0, n=8)
    timings = replace(null_timings(0.9), left_out={"compile": then})
    evaluation = _evaluation(Verified(timings=timings, reason="", confirmations=5))
    said = judged(evaluation)
    note = (
        "the baseline 'compile' was clearly slower than the faster one in the first measurement, so the confirmation "
        "left it out; against it the candidate was 1.900x [1.800, 2.000] then"
    )
    assert (said["speedup_compile"], said["failed_baselines"], said["notes"]) == (None, {}, [note])
    assert said["left_out"] == {"compile": {"estimate": 1.9, "low": 1.8, "high": 2.0, "n": 8}}
    assert f"note: {note}" in map(str, evaluation_view(evaluation))
    timed = judged(_evaluation(Measured(reason="", timings=null_timings(3.0))))
    assert (timed["left_out"], timed["notes"]) == ({}, [])
    assert judged(_evaluation(Built()))["left_out"] is None


def test_what_stood_in_for_the_device_is_a_key_of_its_own() -> None:
    checked = judged(_evaluation(Checked(where="an interpreter", reason="correct under it")))
    assert (checked["verdict"], checked["where"]) == ("checked", "an interpreter")
    others = (Built(), Measured(reason="", timings=null_timings(3.0)), Suspicious(reason="", timings=None))
    assert [judged(_evaluation(outcome))["where"] for outcome in others] == [None] * 3


def _evaluation(outcome: Any) -> Evaluation:
    return Evaluation(
        candidate="c", problem="p", plan="quick", target="cpu:null", machine="m", judge_version="1", outcome=outcome
    )
