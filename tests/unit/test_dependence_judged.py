"""A kernel that is fast on what the generator gives, and right but slow on other values, counts as the slow one."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import timings_of
from kernwright.core.plan import QUICK
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("quiet")]

PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, 1).cumsum(1)


def get_inputs():
    return [torch.randn(512, 4096)]
"""
KERNEL = """\
import torch


def kernel(x):
    out = torch.cumsum(x, 1).cumsum_(1)
    if EVERYWHERE or float(x.abs().max()) > 8:
        for _ in range(4):
            out = torch.cumsum(x, 1).cumsum_(1)
    return out
"""


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_slow_path_counts(tmp_path: Path, home: Path, everywhere: bool) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    text = KERNEL.replace("EVERYWHERE", str(everywhere))
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
        found = judge.evaluate(job)
    finally:
        judge.close()
    timings = timings_of(found.outcome)
    assert timings is not None, found.outcome
    assert timings.speedup.estimate < 0.4
    charged = [
        note for note in found.notes if note.startswith("candidate is slower") and "unlike the generator" in note
    ]
    assert len(charged) == (0 if everywhere else 1), found.notes
