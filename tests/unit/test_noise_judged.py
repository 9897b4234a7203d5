"""A floor that another problem made loud does not hide what is faster here."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import Measured
from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge
from kernwright.problems.file import problem_in

pytestmark = pytest.mark.judged

PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(100):
            x = x * 0.999
        return x


def get_inputs():
    return [torch.randn(512, 1024)]
"""
CANDIDATE = "def kernel(x):\n    return x * 0.999**100{}\n"
LOUD = [3.0, -3.0, 3.0, -3.0, 3.0, -3.0]


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    """In a home that knows nothing of the machine."""
    judge = Judge(home=str(tmp_path))
    yield judge
    judge.close()


def test_only_its_own_loud_floor_hides_what_a_kernel_gains(judge: Judge, tmp_path: Path) -> None:
    problem = problem_in(tmp_path / "problem.py", PROBLEM)

    def judged(comment: str) -> Measured:
        file = SourceFile(name="candidate.py", text=CANDIDATE.format(comment))
        candidate, plan = Candidate(language="torch", files=(file,)), replace(QUICK, baselines=("eager",))
        outcome = judge.evaluate(intake.job_of(problem, candidate, target_of("cpu"), plan, tmp_path)).outcome
        assert isinstance(outcome, Measured), outcome
        return outcome

    judged("")
    [kept] = (tmp_path / "cache" / "noise").glob("*.json")
    [(decade, known)] = json.loads(kept.read_text()).items()
    assert known["problem"] == problem.id
    loud = {"at": time.time(), "log_ratios": LOUD}

    kept.write_text(json.dumps({decade: loud | {"problem": "another"}}))
    second = judged("  # again").timings
    assert second.aa_floor < 10
    assert second.faster
    assert set(json.loads(kept.read_text())) == {decade, f"{decade} {problem.id}"}

    kept.write_text(json.dumps({decade: loud | {"problem": problem.id}}))
    third = judged("  # and again").timings
    assert third.aa_floor > 10
    assert not third.faster
    assert set(json.loads(kept.read_text())) == {decade}
