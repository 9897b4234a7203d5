"""Numbers on the borders that a problem sorts them by show on which side a kernel puts them."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.borders import LABEL  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

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
OF_EACH = "torch.randn(48, 9).sort(dim=1).values"


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, borders: str) -> Setting:
        return prepared(SOURCE.format(result=result, borders=borders))

    return make


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
    ],
)
def test_the_side_of_a_border_shows(
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


ORDERED = "torch.linspace(-2, 2, 33)"


def _last(values: torch.Tensor) -> torch.Tensor:
    """Where the largest is, and of several the last."""
    return values.shape[-1] - 1 - values.flip(-1).argmax(-1)


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param("x.argmax(-1) + 0 * borders.sum().long()", lambda x, y, b: _last(x), id="a choice"),
        pytest.param(
            "borders[(x.unsqueeze(-1) - borders).abs().argmin(-1)]",
            lambda x, y, b: b[((x + 2) * 8).round().clamp(0, 32).long()],
            id="nearest",
        ),
        pytest.param(
            "torch.where((x - borders[5]).abs() < 1e-12, x * 0, (x - borders[5]).sign())",
            lambda x, y, b: ((x - b[5]) * 1e20).clamp(-1, 1),
            id="magnified",
        ),
        pytest.param(
            "torch.nn.functional.layer_norm(x, (48,), y) + borders[3]",
            lambda x, y, b: (x - x.mean(1, True)) * (x.var(1, correction=0, keepdim=True) + 1e-5).rsqrt() * y + b[3],
            id="no border",
        ),
    ],
)
def test_who_sorts_nothing_is_right(setting_of: Made, result: str, kernel: Callable[..., torch.Tensor]) -> None:
    setting = setting_of(result, ORDERED)
    usual = setting.bases[0]
    assert torch.allclose(usual.native[0], kernel(*usual.values, setting.model.borders), atol=1e-5)
    assert all(verdicts(setting, kernel))
