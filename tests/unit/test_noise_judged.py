"""A floor that another problem made loud does not hide what is faster here."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
CANDIDATE = "def kernel(x):\n{}    return x * 0.999**100{}\n"
LOUD = [3.0, -3.0, 3.0, -3.0, 3.0, -3.0]


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    """In a home that knows nothing of the machine."""
    judge = Judge(home=str(tmp_path))
    yield judge
    judge.close()


def test_only_its_own_loud_floor_hides_what_a_kernel_gains(judge: Judge, tmp_path: Path) -> None:
    problem = problem_in(tmp_path / "problem.py", PROBLEM)

    def judged(comment: str, before: str = "") -> Measured:
        file = SourceFile(name="candidate.py", text=CANDIDATE.format(before, comment))
        candidate, plan = Candidate(language="torch", files=(file,)), replace(QUICK, baselines=("eager",))
        outcome = judge.evaluate(intake.job_of(problem, candidate, target_of("cpu"), plan, tmp_path)).outcome
        assert isinstance(outcome, Measured), outcome
        return outcome

    judged("")
    [kept] = (tmp_path / "cache" / "noise").glob("*.json")
    [(decade, known)] = json.loads(kept.read_text()).items()
    assert known["problem"] == problem.id
    # On a busy machine the same call may take ten times as long.
    decades = {str(int(decade) + more) for more in (-1, 0, 1)}

    def tell(of: str, at: float) -> None:
        kept.write_text(json.dumps({each: {"at": at, "log_ratios": LOUD, "problem": of} for each in decades}))

    def told() -> dict[str, Any]:
        return json.loads(kept.read_text())

    tell("another", time.time())
    second = judged("  # again").timings
    assert second.aa_floor < 10
    assert second.faster
    [new] = told().keys() - decades
    assert new.endswith(f" {problem.id}")

    tell(problem.id, time.time())
    third = judged("  # and again").timings
    assert third.aa_floor > 10
    assert not third.faster
    assert told().keys() == decades

    tell(problem.id, 0.0)
    fourth = judged("  # long after").timings
    assert fourth.aa_floor < 10
    assert fourth.faster
    assert [each["at"] > 0 for each in told().values()].count(True) == 1

    tell(problem.id, 0.0)
    slow = judged("  # slower", before="    for _ in range(200): x + 1\n").timings
    assert slow.speedup.low < 1
    assert slow.aa_floor > 10  # nothing depends on it, so nobody measures it again
    assert not any(each["at"] for each in told().values())
