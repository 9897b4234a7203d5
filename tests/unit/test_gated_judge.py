"""A judge on a device whose calls wait behind a gate: what it makes of long messages is part of its verdict."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.engine.intake import job_of
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants.gate import TOO_BUSY
from kernwright.platforms.cpu import Cpu

pytestmark = [pytest.mark.judged, pytest.mark.usefixtures("quiet")]

SOURCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)

def get_inputs():
    return [torch.randn(512, 512)]
"""
HONEST = "import torch\n\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n"
REPEATS = """
import sys
import torch

result = None


def kernel(x):
    global result
    frame, many = sys._getframe(), False
    while frame is not None:
        many, frame = many or frame.f_code.co_name == "burst", frame.f_back
    if not many or result is None:
        result = torch.softmax(x, dim=-1)
    return result.clone()
"""
"""Gives what it gave before in calls of long messages, which it knows by who calls it."""


def judged(home: Path, text: str) -> Evaluation:
    judge = Judge(home=str(home))
    problem = Problem(name="p", source=SOURCE, workloads=(Workload(name="default"),))
    candidate = Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),))
    job = job_of(problem, candidate, Cpu().targets()[0], replace(QUICK, baselines=("eager",)), home)
    try:
        for _ in range(3):
            found = judge.evaluate(replace(job, platform="kernwright.testing.gated:Gated"))
            if found.outcome.reason != TOO_BUSY:
                break
        return found
    finally:
        judge.close()


def test_a_right_kernel_is_not_refused(home: Path) -> None:
    outcome = judged(home, HONEST).outcome
    assert outcome.kind in ("measured", "suspicious"), "a processor that others use is no idle device"


def test_results_of_long_messages_are_compared(home: Path) -> None:
    outcome = judged(home, REPEATS).outcome
    assert outcome.kind == "wrong"
    assert outcome.reason.startswith("timed call on workload 'default'")
