"""Numbers on the borders and thresholds that a problem compares them with show on which side a kernel puts them."""

import random
from collections.abc import Callable, Iterator

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.bounds import LABEL  # noqa: E402
from kernwright.evaluation.distributions import probes  # noqa: E402
from kernwright.evaluation.reference import Reference  # noqa: E402
from kernwright.evaluation.setting import Setting, prepare  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("borders", {borders})

    def forward(self, x, y):
        borders = self.borders
        return {result}


def get_inputs():
    return [torch.randn(64, 48), torch.randn(48)]
"""
Made = Callable[[str, str], Setting]
NONE = "torch.tensor([0.5, 0.25])"
OF_EACH = "torch.randn(48, 9).sort(dim=1).values"


@pytest.fixture
def setting_of() -> Iterator[Made]:
    opened = []

    def make(result: str, borders: str) -> Setting:
        source = SOURCE.format(result=result, borders=borders)
        reference = Reference(Problem(name="p", source=source, workloads=(Workload(name="w"),)))
        opened.append(reference)
        return prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)

    yield make
    for reference in opened:
        reference.close()


def verdicts(setting: Setting, kernel: Callable[..., torch.Tensor], label: str = LABEL) -> list[bool]:
    """For each such probe, whether the kernel is right."""
    found = []
    for seed in range(3):
        for probe in probes(setting, random.Random(seed)):
            if probe.case.label == label:
                found.append(probe.compare([kernel(*probe.case.values, setting.model.borders)]).passed)
    return found


@pytest.mark.parametrize(
    ("result", "borders", "right", "wrong"),
    [
        pytest.param(
            "torch.bucketize(x, borders)",
            "torch.linspace(-2.05, 2.05, 42)",
            lambda x, y, b: (b < x[..., None]).sum(-1),
            lambda x, y, b: torch.bucketize(x, b, right=True),
            id="borders",
        ),
        pytest.param(
            "torch.searchsorted(borders, x.t().contiguous(), right=True).t().contiguous()",
            OF_EACH,
            lambda x, y, b: (b <= x[..., None]).sum(-1),
            lambda x, y, b: (b < x[..., None]).sum(-1),
            id="borders of each feature",
        ),
        pytest.param(
            "(borders[..., 1:] - borders[..., :-1])[torch.bucketize(x, borders).clamp(1, 41) - 1]",
            "torch.linspace(-2.05, 2.05, 42) ** 3",
            lambda x, y, b: (b[1:] - b[:-1])[(b < x[..., None]).sum(-1).clamp(1, 41) - 1],
            lambda x, y, b: (b[1:] - b[:-1])[(b <= x[..., None]).sum(-1).clamp(1, 41) - 1],
            id="floats of buckets",
        ),
        pytest.param(
            "torch.where(x > y, x, x * 0.01)",
            NONE,
            lambda x, y, b: x * (0.01 + 0.99 * (x > y)),
            lambda x, y, b: torch.where(x >= y, x, x * 0.01),
            id="thresholds",
        ),
    ],
)
def test_the_side_of_a_bound_shows(
    setting_of: Made,
    result: str,
    borders: str,
    right: Callable[..., torch.Tensor],
    wrong: Callable[..., torch.Tensor],
) -> None:
    setting = setting_of(result, borders)
    usual = setting.bases[0]
    assert torch.equal(usual.native[0], wrong(*usual.values, setting.model.borders))  # no draw shows it
    assert all(verdicts(setting, right))
    assert len(found := verdicts(setting, wrong)) >= 3
    assert not all(found)


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param("(x - y) / (x - y).norm(dim=0)", lambda x, y: (x - y) * ((x - y) ** 2).sum(0).rsqrt(), id="norm"),
        pytest.param(
            "torch.nn.functional.layer_norm(x, (48,), y)",
            lambda x, y: (x - x.mean(1, True)) * (x.var(1, correction=0, keepdim=True) + 1e-5).rsqrt() * y,
            id="scales",
        ),
        pytest.param(
            "(x - y).exp().sum(1)", lambda x, y: (x.double() - y.double()).exp().sum(1).float(), id="no bound"
        ),
    ],
)
def test_who_compares_nothing_is_right(setting_of: Made, result: str, kernel: Callable[..., torch.Tensor]) -> None:
    found = verdicts(setting_of(result, NONE), lambda x, y, b: kernel(x, y))
    assert len(found) >= 3
    assert all(found)
