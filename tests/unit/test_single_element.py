"""One element changes, of whatever type it is."""

import random
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.checks.single_element import SingleElement  # noqa: E402
from kernwright.evaluation.comparison import Verdict  # noqa: E402
from kernwright.evaluation.reference import Reference  # noqa: E402
from kernwright.evaluation.setting import prepare  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.float() * 2


def get_inputs():
    return [torch.randn(20, 30).to(torch.float8_e4m3fn)]
"""


def test_of_eight_bits_too() -> None:
    reference = Reference(Problem(name="p", source=SOURCE, workloads=(Workload(name="w"),)))
    setting = prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)
    seen = list[torch.Tensor]()

    def run(values: list[torch.Tensor], move: bool = True) -> list[torch.Tensor]:
        seen.append(values[0].float())
        return [values[0].float() * 2]

    passes = lambda outputs, case: Verdict(passed=torch.equal(outputs[0], case.native[0]), ratio=0.0)  # noqa: E731
    trial = SimpleNamespace(setting=setting, rng=random.Random(2), run=run, judge=passes)
    assert SingleElement().verify(trial).passed  # type: ignore[arg-type]
    reference.close()
    assert int((seen[0] != seen[1]).sum()) == 1
