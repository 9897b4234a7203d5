"""A candidate must follow the weights, also those that a fresh module has at one and zero."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Outcome
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("quiet")]

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
MADE = (
    SOURCE.replace("class Model(", "class Norm(")
    + """

def ModelNew():
    return Norm()
"""
)
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

DEEP = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(40))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def get_inputs():
    return [torch.randn(32, 16)]
"""
FOLDS_ALL = """
import torch
from torch import nn

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        {kept} = [nn.Linear(16, 16) for _ in range(40)]
        with torch.no_grad():
            self.w, self.b = torch.eye(16), torch.zeros(16)
            for layer in {kept}:
                self.w, self.b = self.w @ layer.weight.t(), self.b @ layer.weight.t() + layer.bias

    def forward(self, x):
        return torch.addmm(self.b, x, self.w)
"""
BUFFER = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("drawn", torch.randn(16, 16))
        self.register_buffer("table", torch.linspace(0, 1, 16))

    def forward(self, x):
        return (x + self.table) @ torch.tanh(self.drawn @ self.drawn)

def get_inputs():
    return [torch.randn(32, 16)]
"""
KEEPS_THE_BUFFER = BUFFER.replace("class Model(", "class ModelNew(").replace(
    "        return (x + self.table) @ torch.tanh(self.drawn @ self.drawn)",
    """        if not hasattr(self, "kept"):
            self.kept = torch.tanh(self.drawn @ self.drawn)
        return (x + self.table) @ self.kept""",
)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


@pytest.mark.parametrize(("text", "said"), [(IGNORES, "no weight 'norm.bias'"), (FOLLOWS_BY_NAME_ALONE, "outputs")])
def test_weights_that_are_ignored_make_it_wrong(judge: Judge, home: Path, text: str, said: str) -> None:
    outcome = _outcome(judge, home, text)
    assert outcome.kind == "wrong"
    assert said in outcome.reason


def test_a_function_may_make_the_module_and_its_weights_are_followed_too(judge: Judge, home: Path) -> None:
    outcome = _outcome(judge, home, MADE)
    assert outcome.kind == "measured", outcome
    folded = _outcome(judge, home, MADE.replace("self.norm(x)", "nn.functional.layer_norm(x, (64,))"))
    assert folded.kind == "wrong"


def test_a_function_with_the_name_of_the_class_is_not_called_with_inputs(judge: Judge, home: Path) -> None:
    outcome = _outcome(judge, home, "def ModelNew(x):\n    return x.layer_norm((64,))\n")
    assert outcome.kind == "crashed"
    assert "must be a class, or a function that makes an nn.Module" in outcome.reason


def test_weights_that_are_folded_out_of_reach_make_it_wrong(judge: Judge, home: Path) -> None:
    outcome = _outcome(judge, home, FOLDS_ALL.format(kept="layers"), DEEP)
    assert outcome.kind == "wrong"
    assert "no tensor that is the weight" in outcome.reason


def test_copies_of_the_weights_do_not_help(judge: Judge, home: Path) -> None:
    text = (
        FOLDS_ALL.format(kept="own")
        .replace("own = [", "self.own = own = nn.ModuleList([")
        .replace("range(40)]", "range(40)])")
    )
    outcome = _outcome(judge, home, text, DEEP)
    assert outcome.kind == "wrong"
    assert "did not follow" in outcome.reason


def test_folding_is_right_where_the_rules_allow_prepack(judge: Judge, home: Path) -> None:
    outcome = _outcome(judge, home, FOLDS_ALL.format(kept="layers"), DEEP, Rules(prepack=True))
    assert outcome.kind == "measured", outcome.reason


def test_a_buffer_that_a_seed_decides_is_a_weight(judge: Judge, home: Path) -> None:
    outcome = _outcome(judge, home, KEEPS_THE_BUFFER, BUFFER)
    assert outcome.kind == "wrong"
    assert "did not follow" in outcome.reason


def _outcome(judge: Judge, home: Path, text: str, source: str = SOURCE, rules: Rules | None = None) -> Outcome:
    job = EvalJob(
        problem=Problem(name="norm", source=source, rules=rules or Rules(), workloads=(Workload(name="default"),)),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=QUICK,
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
    )
    return judge.evaluate(job).outcome
