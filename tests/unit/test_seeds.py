"""What a module's constructor draws by Python's and NumPy's generators is alike in the judge and in a runner."""

import random

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.loading import import_file  # noqa: E402
from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.participants.opening import opening  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import prepare  # noqa: E402
from kernwright.evaluation.runner.harness import _function  # noqa: E402

SHUFFLED = """
import random

import numpy
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.order = random.sample(range(16), 16)
        self.shift = float(numpy.random.rand())

    def forward(self, x):
        return x[:, self.order] + self.shift


def get_inputs():
    return [torch.randn(8, 16)]
"""


def test_a_shuffle_is_drawn_as_in_the_judge() -> None:
    pytest.importorskip("numpy")
    reference = Reference(Problem(name="p", source=SHUFFLED, workloads=(Workload(name="w"),)))
    try:
        setting = prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)
        random.seed()
        module = import_file(reference.path, "of_a_runner")
        function, _, _ = _function(module, opening(setting, "Model", compiled=False), torch.empty(0))
        base = setting.bases[0]
        with torch.no_grad():
            assert torch.equal(function(*base.values), base.native[0])
    finally:
        reference.close()
