"""One element changes, of whatever type it is."""

import random
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.checks.single_element import SingleElement  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, prepare  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.float() * 2


def get_inputs():
    return [torch.randn(20, 30).to(torch.float8_e4m3fn)]
"""


INTEGERS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, tokens):
        return tokens.argsort(-1)


def get_inputs():
    return [torch.randint(0, {most}, (8, 9))]
"""


def _prepared(source: str) -> tuple[Reference, Setting]:
    reference = Reference(Problem(name="p", source=source, workloads=(Workload(name="w"),)))
    return reference, prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)


@pytest.mark.parametrize("most", ["2**50", "2"])
def test_an_integer_becomes_one_that_was_not_among_the_others(most: str) -> None:
    reference, setting = _prepared(INTEGERS.format(most=most))
    seen = list[torch.Tensor]()

    def run(values: list[torch.Tensor], move: bool = True) -> list[torch.Tensor]:
        seen.append(values[0].clone())
        return [values[0].argsort(-1)]

    passes = lambda outputs, case: Verdict(passed=True, ratio=0.0)  # noqa: E731
    for seed in range(20):
        seen.clear()
        trial = SimpleNamespace(setting=setting, rng=random.Random(seed), run=run, judge=passes)
        assert SingleElement().verify(trial).passed  # type: ignore[arg-type]
        assert int((seen[0] != seen[1]).sum()) == 1
        assert most == "2" or all(len(values.unique()) == values.numel() for values in seen)
    reference.close()


def test_of_eight_bits_too() -> None:
    reference, setting = _prepared(SOURCE)
    seen = list[torch.Tensor]()

    def run(values: list[torch.Tensor], move: bool = True) -> list[torch.Tensor]:
        seen.append(values[0].float())
        return [values[0].float() * 2]

    passes = lambda outputs, case: Verdict(passed=torch.equal(outputs[0], case.native[0]), ratio=0.0)  # noqa: E731
    trial = SimpleNamespace(setting=setting, rng=random.Random(2), run=run, judge=passes)
    assert SingleElement().verify(trial).passed  # type: ignore[arg-type]
    reference.close()
    assert int((seen[0] != seen[1]).sum()) == 1
