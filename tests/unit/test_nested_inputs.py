"""Tensors in tuples, lists and dictionaries among the inputs, as a cell's state or a cache for each layer."""

from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile  # noqa: E402
from kernwright.core.errors import UserError  # noqa: E402
from kernwright.core.nesting import nested, unnested  # noqa: E402
from kernwright.core.outcome import Outcome  # noqa: E402
from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.engine import intake  # noqa: E402
from kernwright.engine.targets import target_of  # noqa: E402
from kernwright.evaluation.calls import calls_of  # noqa: E402
from kernwright.evaluation.judge import Judge  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.runner.structure import decode_calls, encode_calls  # noqa: E402

WORKLOAD = Workload(name="w", params={"rows": 64})
SOURCE = """
import torch

BACKWARD = {backward}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(8, 16)
    def forward(self, x, state, caches, scale):
        h, c = self.cell(x, (state[0] * scale, state[1]))
        return h + caches["keys"][0] - caches["keys"][1], {{"state": (h, c)}}

def get_inputs(rows):
    state = (torch.randn(rows, 16), torch.randn(rows, 16))
    return [torch.randn(rows, 8), state, {{"keys": [torch.randn(rows, 16) for _ in range({count})]}}, 0.5]
"""
KERNEL = """
import torch

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(8, 16)
    def forward(self, x, state, caches, scale):
        cell = self.cell
        gates = x @ cell.weight_ih.T + (state[0] * scale) @ cell.weight_hh.T + (cell.bias_ih + cell.bias_hh)
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        first, second = caches["keys"]
        return h + first - second, {"state": (h, c)}
"""
Pair = namedtuple("Pair", "a b")


def _reference(count: str = "2", *, backward: bool = False) -> Reference:
    source = SOURCE.format(backward=backward, count=count)
    return Reference(Problem(name="mine", source=source, workloads=(WORKLOAD,), backward=backward))


@pytest.mark.parametrize(
    ("arguments", "count", "is_nested"),
    [
        ([1.5, "3", (2, 3)], 3, False),
        (["2", (1, "3"), {"a": ["4", None], 7: {"b": "5"}}], 6, True),
        ([[["1"]], ["2", ()]], 3, True),
        ([Pair("1", 2), "3"], 2, False),
        ([{("a", 1): "1"}, "3"], 2, False),
    ],
)
def test_values_lie_side_by_side_and_are_nested_again(arguments: list[Any], count: int, is_nested: bool) -> None:
    values, nesting = unnested(arguments, lambda value: isinstance(value, str))
    assert len(values) == count
    assert (nesting is not None) is is_nested
    assert list(nested(lambda *given: given, nesting)(*values)) == arguments


def test_a_reference_is_given_what_its_generator_gives() -> None:
    reference = _reference()
    values = reference.inputs(WORKLOAD, 1)
    assert [getattr(value, "shape", value) for value in values] == [(64, 8), *[(64, 16)] * 4, 0.5]
    model = reference.model(WORKLOAD, [], 5, None)
    h, c = model.cell(values[0], (values[1] * 0.5, values[2]))
    outputs = reference.outputs(model, values)
    assert torch.allclose(outputs[0], h + values[3] - values[4])
    assert torch.equal(outputs[2], c)
    assert len(reference.origins(WORKLOAD)) == len(values)
    [call] = calls_of(reference)
    assert len(call.inputs) == len(values)
    assert decode_calls(encode_calls([call])) == (call,)


def test_as_many_are_nested_alike_every_time() -> None:
    reference = _reference("2 + int(torch.rand(()) * 9)")
    with pytest.raises(UserError, match=r"nests its tensors in lists, tuples or dicts otherwise at one time"):
        _ = [reference.inputs(WORKLOAD, seed) for seed in range(99)]


@pytest.mark.timed
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("backward", [False, True])
def test_a_kernel_gets_them_nested_too(tmp_path: Path, home: Path, backward: bool) -> None:
    judge = Judge(home=str(tmp_path))
    try:
        assert _outcome(judge, home, KERNEL, backward=backward).kind == "measured"
        for stands, instead in (("state[0] * scale", "state[0]"), ("- second", "- first")):
            wrong = _outcome(judge, home, KERNEL.replace(stands, instead), backward=backward)
            assert wrong.kind == "wrong"
    finally:
        judge.close()


def _outcome(judge: Judge, home: Path, text: str, *, backward: bool) -> Outcome:
    source = SOURCE.format(backward=backward, count=2)
    problem = Problem(name="nested", source=source, workloads=(WORKLOAD,), backward=backward)
    candidate = Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),))
    return judge.evaluate(intake.job_of(problem, candidate, target_of("cpu"), QUICK, home)).outcome
