"""Floating numbers that a reference asks for are tried, though no generator draws them."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.probes.literals import LABEL, asked_case, with_asked_for  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "torch.randn(96, 64), torch.randn(96, 64)")
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
BORDERS = "torch.tensor([-1.0, 0.125, 0.5, 7.0])"


def _counts(x: torch.Tensor) -> torch.Tensor:
    """Without what is the upper end of the range."""
    bins = torch.floor((x + 2) * 4)
    return torch.bincount(bins[(bins >= 0) & (bins < 16)].long(), minlength=16).float()


def test_what_is_asked_for_comes_in_a_row_too(prepared: Callable[[str], Setting]) -> None:
    result = "sum(torch.where((x[:, :32 - n] == -1.0).all(-1), y[:, n], x[:, n]) for n in range(1, 8))"
    setting = prepared(SOURCE.format(result=result))
    found = [refused(setting, lambda x, y: x[:, 1:8].sum(-1), seed) for seed in range(4)]  # along which axis is chance
    assert {label for each in found for label in each} == {LABEL}


def refused(setting: Setting, kernel: Kernel, seed: int = 2) -> set[str]:
    found = set()
    for probe in probes(setting, random.Random(seed)):
        if not probe.compare([kernel(*probe.case.values)]).passed:
            found.add(probe.case.label)
    return found


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        ("torch.where(x == -1.0, torch.zeros_like(x), torch.exp(x)).sum(-1) + y[:, 0]", lambda x, y: x.exp().sum(-1)),
        ("torch.where(x == -1.0, 0 * x, x.argsort(-1) * y)", lambda x, y: x.argsort(-1) * y),
        ("torch.where(x == y, torch.sin(x), torch.exp(x - y))", lambda x, y: (x - y).exp()),
        ("torch.nn.functional.silu(x.clamp(-65504.0, 65504.0)) * y", lambda x, y: torch.nn.functional.silu(x) * y),
        ("torch.where(x > 20.0, y, x * y)", lambda x, y: x * y),
        ("(x.clamp(min=-9) * y).sum(-1)", lambda x, y: (x * y).sum(-1)),
        ("torch.histc(x, 16, -2.0, 2.0) + 0 * y[0, :16]", lambda x, y: _counts(x) + 0 * y[0, :16]),
        ("x.histc(bins=16, min=-2, max=2) + 0 * y[0, :16]", lambda x, y: _counts(x) + 0 * y[0, :16]),
        ("torch.histogram(x, 16, range=(-2.0, 2.0)).hist + 0 * y[0, :16]", lambda x, y: _counts(x) + 0 * y[0, :16]),
        ("torch.histc(x, 16, -9.0, 9.0) + y[0, :16]", lambda x, y: torch.histc(x.clamp(-9, 9), 16, -9, 9) + y[0, :16]),
        (f"torch.bucketize(x, {BORDERS}) * y", lambda x, y: torch.bucketize(x, eval(BORDERS), right=True) * y),
        (f"torch.searchsorted({BORDERS}, x, side='right') * y", lambda x, y: torch.bucketize(x, eval(BORDERS)) * y),
    ],
    ids=[
        "a mark",
        "a mark beside a choice",
        "equal pairs",
        "a bound far away",
        "a threshold",
        "a floor",
        "the end of a range",
        "the end of a range, by name",
        "the end of another range",
        "a range far away",
        "a border in the code",
        "the other side of a border in the code",
    ],
)
def test_a_branch_that_no_draw_takes_shows(prepared: Callable[[str], Setting], result: str, kernel: Kernel) -> None:
    setting = prepared(SOURCE.format(result=result))
    assert LABEL in refused(setting, kernel)
    honest = {"torch": torch, "x": None}
    assert refused(setting, lambda x, y: eval(result, honest | {"x": x, "y": y})) == set()


def test_beside_what_is_asked_for_a_step_falls_either_way_and_what_lies_there_does_not(
    prepared: Callable[[str], Setting],
) -> None:
    """A last digit of another number explains the one; a last digit of what was asked for would explain the other."""
    result = "torch.where(x == -1.0, 0.0, torch.round(x * 30).clamp(-90, 90)) + 0 * y"
    setting = prepared(SOURCE.format(result=result))
    base = setting.bases[0]
    x, y = (value.clone() for value in base.values)
    near, there = (5, 7), (3, 3)
    x[there] = -1.0
    for whole in range(90):
        x[near] = (whole + 0.5) / 30
        exact = x.double() * 30
        if exact[near] != whole + 0.5 and exact[near].round() == torch.round(x * 30)[near]:
            break  # PyTorch's own falls as it should
    case = asked_case(setting, base, [x, y])
    for at, number, passes in ((near, 2 * whole + 1 - exact[near].round(), True), (there, exact[there], False)):
        other = case.native[0].clone()
        other[at] = number
        assert compare([other], case, setting.reference.problem).passed is passes


@pytest.mark.parametrize(
    "result",
    [
        "torch.exp(x) * y",
        "torch.relu(x - y)",
        "(x * y).clamp(-1, 1)",
        "torch.histc(x, 16) + y[0, :16]",
        "torch.bucketize(x, (x[0, :9] * 4096).round().sort().values / 4096) + y",
        "torch.bucketize(x, torch.linspace(-2.05, 2.05, 42)) + y",
    ],
)
def test_where_draws_meet_all_of_it_nothing_is_made(prepared: Callable[[str], Setting], result: str) -> None:
    setting = prepared(SOURCE.format(result=result))
    assert with_asked_for(setting, setting.bases[0], random.Random(1)) is None
