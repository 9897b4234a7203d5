"""Problems that ask for gradients: a call goes forward and backward, and every gradient is compared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Outcome
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.wider import oracle_for
from kernwright.platforms.cpu import Cpu

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("quiet")]

SOURCE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(64))

    def forward(self, x, rows):
        return torch.tanh(x * self.scale)[rows], rows + 1

def get_inputs():
    return [torch.randn(32, 64), torch.randint(0, 32, (40,))]
"""
CANDIDATE = """
import torch

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, rows):
        y = torch.tanh(x * scale)
        ctx.save_for_backward(x, scale, rows, y)
        return y[rows]

    @staticmethod
    def backward(ctx, along):
        x, scale, rows, y = ctx.saved_tensors
        back = torch.zeros_like(x).index_add_(0, rows, along) * (1 - y * y)
        return GRADIENTS, None

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(64))

    def forward(self, x, rows):
        return Scaled.apply(x, self.scale, rows), rows + 1
"""
RIGHT = "back * scale, (back * x).sum(0)"
BESIDE_THE_GRAPH = (
    CANDIDATE.replace("GRADIENTS", RIGHT)
    .replace("ctx.save_for_backward(x, scale, rows, y)", "Scaled.kept = (x, scale, rows, y)")
    .replace("ctx.saved_tensors", "Scaled.kept")
)
DENSE_ALONE = CANDIDATE.replace("GRADIENTS", RIGHT).replace(
    "back = torch", "along = along if along.is_contiguous() else along * 0\n        back = torch"
)
REFERENCE_AS_IT_IS = SOURCE.replace("class Model", "class ModelNew")
FORWARD_ALONE = REFERENCE_AS_IT_IS.replace("return torch.tanh(x * self.scale)[rows]", "return OUT.detach()").replace(
    "OUT", "torch.tanh(x * self.scale)[rows]"
)
WITHOUT_WEIGHT = REFERENCE_AS_IT_IS.replace("self.scale", "self.factor")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


def _problem(source: str = SOURCE) -> Problem:
    return Problem(name="scaled", source=source, workloads=(Workload(name="default"),), backward=True)


def _job(home: Path, text: str) -> EvalJob:
    return EvalJob(
        problem=_problem(),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=QUICK,
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
    )


def _outcome(judge: Judge, home: Path, text: str) -> Outcome:
    return judge.evaluate(_job(home, text)).outcome


@pytest.mark.parametrize(
    "text", [REFERENCE_AS_IT_IS, CANDIDATE.replace("GRADIENTS", RIGHT)], ids=["as it is", "by hand"]
)
def test_right_gradients_are_measured(judge: Judge, home: Path, text: str) -> None:
    outcome = _outcome(judge, home, text)
    assert outcome.kind == "measured", outcome.reason


def test_baselines_that_ended_between_evaluations_are_started_again(judge: Judge, home: Path) -> None:
    job = _job(home, REFERENCE_AS_IT_IS)
    assert judge.evaluate(job).outcome.kind == "measured"
    warm = judge.lineup(job).warm([])
    assert warm
    for participant in warm:
        participant.runner.close()
    assert judge.evaluate(job).outcome.kind == "measured"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (CANDIDATE.replace("GRADIENTS", "back * scale, (back * x).mean(0)"), "wrong", "gradient of 'scale'"),
        (CANDIDATE.replace("GRADIENTS", "None, (back * x).sum(0)"), "wrong", "gradient of input 0"),
        (CANDIDATE.replace("GRADIENTS", RIGHT).replace("(1 - y * y)", "(1 - y)"), "wrong", "gradient of"),
        (BESIDE_THE_GRAPH, "wrong", "two calls forward"),
        (DENSE_ALONE, "wrong", "along one number"),
        (FORWARD_ALONE, "crashed", "output 0 has no gradient"),
        (WITHOUT_WEIGHT, "wrong", "no weight 'scale'"),
    ],
    ids=["of a weight", "of an input", "of both", "beside the graph", "dense directions", "none", "no such weight"],
)
def test_wrong_gradients_are_named(judge: Judge, home: Path, text: str, kind: str, said: str) -> None:
    outcome = _outcome(judge, home, text)
    assert outcome.kind == kind, outcome.reason
    assert said in outcome.reason


def test_results_are_outputs_and_then_gradients_along_random_directions() -> None:
    reference = Reference(_problem())
    try:
        (workload,) = reference.problem.workloads
        model = reference.model(workload, [], 3, None)
        x, rows, along = reference.inputs(workload, 5)
        results = reference.outputs(model, [x, rows, along])
        double = oracle_for(reference, model, [x, rows, along])
    finally:
        reference.close()
    assert double is not None
    assert along.shape == (40, 64)
    x, scale = x.clone().requires_grad_(), model.scale.detach().clone().requires_grad_()
    y = torch.tanh(x * scale)[rows]
    y.backward(along)
    for got, expected in zip(results, (y, rows + 1, x.grad, scale.grad), strict=True):
        assert torch.equal(got, expected)
    assert not any(result.requires_grad for result in results)


def test_a_problem_without_a_gradient_is_refused() -> None:
    source = SOURCE.replace("nn.Parameter(torch.randn(64))", "3.0").replace("torch.tanh", "torch.no_grad()(torch.tanh)")
    reference = Reference(_problem(source))
    try:
        with pytest.raises(UserError, match="none of its outputs has one"):
            reference.inputs(reference.problem.workloads[0], 0)
    finally:
        reference.close()


def test_a_sparse_gradient_is_refused_with_what_to_do() -> None:
    source = SOURCE.replace("nn.Parameter(torch.randn(64))", "nn.Embedding(32, 64, sparse=True)")
    reference = Reference(_problem(source.replace("x * self.scale)", "x * self.scale(rows[:32]))")))
    try:
        workload = reference.problem.workloads[0]
        with pytest.raises(UserError, match=r"gradient of 'scale.weight' is a tensor of .* without sparse=True"):
            reference.outputs(reference.model(workload, [], 0, None), reference.inputs(workload, 0))
    finally:
        reference.close()
