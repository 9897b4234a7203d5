"""Integers that hang on a last digit may be either; others may not."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

QUANTISED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        scale = x.abs().amax(-1, keepdim=True) / 127
        return torch.round(x / scale).to(torch.int8)


def get_inputs():
    steps = (torch.randn(50, 200) * 30).clamp(-120, 120).round() + 0.5 * (torch.rand(50, 200) < 0.05)
    steps[:, 0] = 127
    return [torch.cat([steps * (torch.rand(50, 1) + 0.5), torch.randn(50, 200)])]
"""
STEPS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, step):
        return torch.round(x / step).clamp(-128, 127) * step * torch.sigmoid(x)


def get_inputs():
    return [torch.randn(400, 500) * 20.0, torch.rand(400, 1) * 0.5 + 0.25]
"""
NEAREST = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, codes):
        return (x.square().sum(1, keepdim=True) - 2 * x @ codes.T + codes.square().sum(1)).argmin(1)


def get_inputs():
    return [torch.randn(500, 8), torch.randn(64, 8)]
"""


ANGLES = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {} - torch.pi


def get_inputs():
    return [torch.randn(400, 500) * 4]
"""


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[..., Setting]:
    def make(source: str, **rules: object) -> Setting:
        return prepared(source, rules=Rules(**rules))

    return make


def _passes(setting: Setting, kernel: Callable[..., torch.Tensor]) -> tuple[bool, int]:
    """Whether it is right on every base, and in how many elements it differs from PyTorch's own."""
    passed, others = True, 0
    for base in setting.bases:
        got = kernel(*base.values)
        others += int((got != base.native[0]).sum())
        passed = passed and compare([got], base, setting.reference.problem).passed
    return passed, others


def _by_reciprocal(x: torch.Tensor) -> torch.Tensor:
    return torch.round(x * (127 / x.abs().amax(-1, keepdim=True)))


@pytest.mark.parametrize("precision", ["strict_float32", "bfloat16"])
def test_rounding_in_another_order_is_right_and_another_rounding_is_not(
    setting_of: Callable[..., Setting], precision: str
) -> None:
    setting = setting_of(QUANTISED, precision=precision)
    passed, others = _passes(setting, lambda x: _by_reciprocal(x.float()).to(torch.int8))
    assert passed
    assert others > 0
    scaled = lambda x: x.double() * (127 / x.double().abs().amax(-1, keepdim=True))  # noqa: E731
    assert not _passes(setting, lambda x: scaled(x).floor().to(torch.int8))[0]
    assert not _passes(setting, lambda x: (scaled(x) + 0.47).floor().to(torch.int8))[0]

    def one_more(x: torch.Tensor) -> torch.Tensor:
        exact = scaled(x)
        safe = ((exact - exact.round()).abs() < 0.05).flatten().nonzero()[0]
        result = exact.round().to(torch.int8).flatten()
        result[safe] += 1
        return result.view(x.shape)

    if precision == "strict_float32":
        assert not _passes(setting, one_more)[0]


def test_a_step_of_floats_falls_either_way_where_a_last_digit_decides_and_nowhere_else(
    setting_of: Callable[..., Setting],
) -> None:
    setting = setting_of(STEPS)
    x, step = setting.bases[0].values
    x = ((x / step).round() + 0.25) * step
    near, apart = (5, 7), (3, 3)
    x[apart] = 20.25 * step[3]
    for whole in range(100):
        x[near] = (whole + 0.5) * step[5]
        exact = x.double() / step.double()
        if exact[near] != whole + 0.5 and exact[near].round() == (x / step)[near].round():
            break  # PyTorch's own falls as it should
    case = setting.case([x, step], "a tie", 0)
    one = step * torch.sigmoid(x)
    for at, passes in ((near, True), (apart, False)):
        got = case.native[0].clone()
        other = exact[at].floor() + exact[at].ceil() - exact[at].round()
        got[at] = other * one[at]
        assert compare([got], case, setting.reference.problem).passed is passes

    def early(x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        return (x.double() / step + 0.4997).floor().clamp(-128, 127) * step * torch.sigmoid(x)

    assert not _passes(setting, early)[0]


@pytest.mark.parametrize("wrapped", ["torch.remainder(x + torch.pi, 2 * torch.pi)", "(x + torch.pi) % (2 * torch.pi)"])
def test_an_angle_of_many_turns_is_on_either_side_where_a_last_digit_decides(
    setting_of: Callable[..., Setting], wrapped: str
) -> None:
    setting = setting_of(ANGLES.format(wrapped))
    x = setting.bases[0].values[0] * 40
    x[5, 7] = 97 * torch.pi
    case, turn = setting.case([x], "many turns", 0), 2 * torch.pi
    other = x - turn * torch.floor((x + torch.pi) / turn)
    other[5, 7] = case.native[0][5, 7] + (turn if case.native[0][5, 7] < 0 else -turn)
    assert compare([other], case, setting.reference.problem).passed
    for wrong in (
        torch.where(other > 3.13, other - turn, other),
        torch.where(torch.arange(500) == 499, 0.0, other),
        other + 1e-3 * torch.randn(400, 500),
    ):
        assert not compare([wrong], case, setting.reference.problem).passed
    one = other.clone()
    one[3, 3] += turn if one[3, 3] < 0 else -turn
    assert not compare([one], case, setting.reference.problem).passed


def test_whole_numbers_on_steps_excuse_nothing(setting_of: Callable[..., Setting]) -> None:
    source = "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return {}\n\n\n"
    source += "def get_inputs():\n    return [torch.poisson(torch.full((400, 1000), 1.5))]\n"
    skipping: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "torch.floor(x).mean()": lambda x: x[:280].sum() / x.numel(),
        "torch.floor(x).mean(-1)": lambda x: x[:, :700].sum(-1) / x.shape[1],
    }
    for result, kernel in skipping.items():
        assert not _passes(setting_of(source.format(result)), kernel)[0]


def test_a_choice_among_nearly_equal_numbers_is_free_and_no_other_is(setting_of: Callable[..., Setting]) -> None:
    setting = setting_of(NEAREST)
    x, codes = (value.clone() for value in setting.bases[0].values)
    apart = torch.cdist(codes, codes).fill_diagonal_(torch.inf)
    one, other = divmod(int(apart.argmin()), len(codes))
    x[7] = (codes[one] + codes[other]) / 2
    case = setting.case([x, codes], "between two", 0)
    assert int(case.native[0][7]) in (one, other)
    for place, right in ((7, True), (8, False)):
        got = case.native[0].clone()
        got[place] = one + other - got[place] if right else (got[place] + 1) % len(codes)
        assert compare([got], case, setting.reference.problem).passed is right
    shorter = lambda x, codes: (codes.square().sum(1) / 2 - x @ codes.T).argmin(1)  # noqa: E731
    assert _passes(setting, shorter)[0]
    assert not _passes(setting, lambda x, codes: shorter(x.bfloat16().float(), codes.bfloat16().float()))[0]


def test_infinities_of_which_nan_is_made_are_no_probe(setting_of: Callable[..., Setting]) -> None:
    setting = setting_of(NEAREST)
    for seed in range(3):
        for probe in probes(setting, random.Random(seed)):
            assert probe.case.label != "infinities"
