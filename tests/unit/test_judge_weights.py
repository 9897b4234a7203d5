"""A candidate must follow the weights, also those that a fresh module has at one and zero."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Outcome
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu

SOURCE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.randn(32, 64)]
"""
IGNORES = """
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, (64,))
"""
FOLLOWS_BY_NAME_ALONE = """
import torch

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x):
        return torch.nn.functional.layer_norm(x, (64,))
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


@pytest.mark.parametrize(("text", "said"), [(IGNORES, "no weight 'norm.bias'"), (FOLLOWS_BY_NAME_ALONE, "outputs")])
def test_weights_that_are_ignored_make_it_wrong(judge: Judge, tmp_path: Path, text: str, said: str) -> None:
    outcome = _outcome(judge, tmp_path, text)
    assert outcome.kind == "wrong"
    assert said in outcome.reason


def _outcome(judge: Judge, home: Path, text: str) -> Outcome:
    job = EvalJob(
        problem=Problem(name="norm", source=SOURCE, workloads=(Workload(name="default"),)),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=QUICK,
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
    )
    return judge.evaluate(job).outcome
