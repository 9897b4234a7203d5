"""Inputs that are symmetric in every draw: what the judge makes of them, and of what lies beside them."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.extremes import cases as extremes  # noqa: E402
from kernwright.evaluation.errors.slices import parts_met  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, scaled  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return {result}


def get_inputs():
    {drawn}
    return [a, torch.randn(256, 256)]
"""
Made = Callable[[str, str], Setting]


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn))

    return make


def test_they_are_scaled_and_have_other_signs(setting_of: Made) -> None:
    setting = setting_of(
        "a.abs().clamp(max=3).sum(-1) + 0 * b[0]", "a = torch.rand(256, 256).tril(); a = a + a.tril(-1).mT"
    )
    for seed in range(4):
        case = scaled(setting, random.Random(seed))
        assert case is not None
        a = case.values[0]
        assert torch.equal(a, a.mT)
        assert bool((a < 0).any())
        assert not torch.allclose(a.clamp(max=3).sum(-1), case.native[0])


def test_definite_ones_stay_definite(setting_of: Made) -> None:
    setting = setting_of(
        "torch.linalg.inv(a)[:40] + 0 * b[:40]", "a = torch.randn(256, 300); a = a @ a.mT / 300 + torch.eye(256)"
    )
    made = [scaled(setting, random.Random(seed)) for seed in range(3)] + list(extremes(setting, random.Random(0)))
    assert all(case is not None and not torch.linalg.cholesky_ex(case.values[0]).info.any() for case in made)


@pytest.mark.parametrize(
    ("drawn", "symmetric"),
    [
        ("a = torch.randn(256, 40); a = (a.double() @ a.double().mT).float(); a[0, 1] *= 1 + 2e-7", True),
        ("a = torch.rand(256, 256).tril(); a = a + a.mT; a[3, 5] = a[5, 3] = torch.inf", True),
        ("a = torch.randn(256, 256); a[3, 5] = torch.inf", False),
        ("a = torch.randn(256, 256); a = a + a.mT + 1e-4 * torch.randn(256, 256)", False),
    ],
)
def test_last_digits_aside(setting_of: Made, drawn: str, symmetric: bool) -> None:
    setting = setting_of("(a.clamp(max=9) * b).sum(0)", drawn)
    assert (0 in setting.held) == symmetric


def test_flags_stay_flags(setting_of: Made) -> None:
    setting = setting_of("a @ b", "a = (torch.rand(256, 256) < 0.2).float(); a = ((a + a.mT) > 0).float()")
    assert setting.marks == {0}
    made = [scaled(setting, random.Random(0)), *extremes(setting, random.Random(0))]
    assert len(made) > 1
    assert all(case is not None and set(case.values[0].unique().tolist()) == {0.0, 1.0} for case in made)


def test_what_float32_rounds_beside_them_is_excused(setting_of: Made) -> None:
    drawn = "a = torch.randn(256, 256) * 0.5 + torch.linspace(-16, 16, 256).view(-1, 1); a = a + a.mT"
    setting = setting_of("torch.sigmoid(a) * b", drawn)
    for base in setting.bases:
        a, b = base.values
        assert parts_met(setting, base, [(0.5 + 0.5 * torch.tanh(a * 0.5)) * b]).passed
