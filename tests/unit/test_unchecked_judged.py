"""A kernel that becomes faster once the checks seem to be over counts as it is in a process that nothing checked."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("quiet")]

PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, 1) + torch.cumsum(x, 1).flip(0) * 0 + torch.cumsum(x, 1) * 0


def get_inputs():
    return [torch.randn(512, 4096)]
"""
KERNEL = """\
import torch

CALLS = 0


def kernel(x):
    global CALLS
    CALLS += 1
    for _ in range(12 * (CALLS <= SLOW)):
        torch.cumsum(x, 1)
    return torch.cumsum(x, 1)
"""


def judged(tmp_path: Path, home: Path, slow: int) -> Evaluation:
    """What is said of the kernel whose first calls, so many, take longer."""
    (tmp_path / "problem.py").write_text(PROBLEM)
    text = KERNEL.replace("SLOW", str(slow))
    job = EvalJob(
        problem=File().load(str(tmp_path / "problem.py")),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=replace(QUICK, baselines=("eager",)),
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
    )
    judge = Judge(str(home))
    try:
        return judge.evaluate(job)
    finally:
        judge.close()


def test_who_becomes_faster_after_the_checks_is_not_shown_to_be(tmp_path: Path, home: Path) -> None:
    found = judged(tmp_path, home, 40)
    timings = timings_of(found.outcome)
    assert timings is not None, found.outcome
    assert timings.speedup.low < 1.0, found.notes
    assert any("no check had called" in note for note in found.notes), found.notes


def test_who_is_as_fast_from_the_first_call_on_is(tmp_path: Path, home: Path) -> None:
    """Where others' work makes six new processes in a row look slower, it counts as little slower; not so twice."""
    for _ in range(2):
        found = judged(tmp_path, home, 2)
        timings = timings_of(found.outcome)
        assert timings is not None, found.outcome
        assert timings.speedup.low > 1.3, found.notes
        if not any("no check had called" in note for note in found.notes):
            return
    raise AssertionError(found.notes)
