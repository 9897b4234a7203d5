"""Whole parts of an output are not left out because others are larger, and nobody is asked for digits that are none."""

from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.errors import slices  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict, compare  # noqa: E402
from kernwright.evaluation.errors.slices import parts_met  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x", "{drawn}")
UNITS = "torch.randn(256, 64) * torch.logspace(-4, 4, 64)[torch.randperm(64)]"
Made = Callable[..., Setting]


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str = UNITS, rules: Rules | None = None) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn), rules=rules or Rules())

    return make


def judged(setting: Setting, kernel: Callable[..., torch.Tensor]) -> Verdict:
    """What is said of the parts; where nothing is wrong with these, the rule of errors finds nothing either."""
    case = setting.bases[0]
    outputs = [kernel(*case.values)]
    verdict = parts_met(setting, case, outputs)
    assert not verdict.passed or compare(outputs, case, setting.reference.problem).passed
    return verdict


def _without_small(x: torch.Tensor, *, among_themselves: bool) -> torch.Tensor:
    moments, small = x.T @ x, x.square().mean(0).sqrt() < 1e-2
    if among_themselves:
        moments[small[:, None] & small] = 0.0
    else:
        moments[small], moments[:, small] = 0.0, 0.0
    return moments


@pytest.mark.parametrize("at_a_time", [1 << 17, 1000])
def test_features_in_small_units_are_not_left_out(
    setting_of: Made, monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    monkeypatch.setattr(slices, "AT_A_TIME", at_a_time)
    setting = setting_of("x.T @ x")
    assert judged(setting, lambda x: x.T @ x).passed
    assert judged(setting, lambda x: sum(part.T @ part for part in x.split(8))).passed
    verdict = judged(setting, lambda x: _without_small(x, among_themselves=False))
    assert "of axis 0: off by 100% of its own size" in verdict.detail
    verdict = judged(setting, lambda x: _without_small(x, among_themselves=True))
    assert "what is small along axes 0 and 1" in verdict.detail


def test_short_powers_are_not_left_out(setting_of: Made) -> None:
    setting = setting_of("torch.stack([x**p for p in range(8)])", "torch.randn(9000) * 30")
    right = lambda x: torch.stack([x**p for p in range(8)])  # noqa: E731
    assert judged(setting, right).passed
    assert not judged(setting, lambda x: right(x) * (torch.arange(8) > 1)[:, None]).passed


def test_flat_outputs_are_looked_at_in_stretches(setting_of: Made) -> None:
    setting = setting_of("x.square().mean(0)", "torch.randn(64, 256) * torch.logspace(-4, 4, 256)")
    assert judged(setting, lambda x: (x * x).sum(0) / 64).passed
    verdict = judged(setting, lambda x: x.square().mean(0) * (torch.arange(256) > 40))
    assert "part 0 of 32" in verdict.detail


@pytest.mark.parametrize(
    ("result", "drawn", "kernel"),
    [
        pytest.param(
            "torch.sigmoid(x)",
            "torch.randn(99, 64) - torch.linspace(0, 40, 64)",
            lambda x: 0.5 + 0.5 * torch.tanh(x / 2),
            id="nearly 0 by a difference of numbers of size 1",
        ),
        pytest.param(
            "(x - x.mean(0)).sum(0)", "torch.randn(512, 64)", lambda x: x.sum(0) - 512 * x.mean(0), id="nothing is left"
        ),
        pytest.param(
            "torch.nn.functional.layer_norm(x, (64,))",
            "torch.randn(99, 64) * torch.logspace(-3, 3, 99)[:, None] + 3",
            lambda x: (x - x.mean(1, True)) * (x.var(1, unbiased=False, keepdim=True) + 1e-5).rsqrt(),
            id="rows that were shifted",
        ),
        pytest.param(
            "torch.exp(-x)", "torch.rand(64, 64) * 99", lambda x: torch.exp(-x) * (x < 85), id="beneath normal numbers"
        ),
        pytest.param("torch.relu(x - 9)", "torch.randn(64, 64) * 3", lambda x: torch.relu(x - 9), id="mostly zeros"),
    ],
)
def test_what_has_no_digits_is_not_asked_for_any(
    setting_of: Made, result: str, drawn: str, kernel: Callable[..., torch.Tensor]
) -> None:
    assert judged(setting_of(result, drawn), kernel).passed


def test_lower_precision_explains_what_a_difference_loses(setting_of: Made) -> None:
    """Columns that are differences of others: 1 in 10,000 of them is left, of which bfloat16 has no digit."""
    drawn = "(lambda a, b: torch.cat([a, a + b * 1e-4], 1))(torch.randn(64, 512), torch.randn(64, 512))"
    differences = "torch.cat([x[:, :512], (x[:, 512:] - x[:, :512])], 1)"

    def kernel(x: torch.Tensor) -> torch.Tensor:
        first, second = x[:, :512], x[:, 512:]
        return torch.cat([first, second.bfloat16().float() - first.bfloat16().float()], 1)

    assert judged(setting_of(differences, drawn, Rules(reduced_precision=True)), kernel).passed
    outputs = [kernel(*(setting := setting_of(differences, drawn)).bases[0].values)]
    assert not parts_met(setting, setting.bases[0], outputs).passed


def test_complex_and_narrow_numbers_and_single_ones(setting_of: Made) -> None:
    assert judged(setting_of("x @ x.mH", "torch.randn(64, 64, dtype=torch.complex64)"), lambda x: x @ x.mH).passed
    assert judged(setting_of("x @ x.mT", "torch.randn(64, 64, dtype=torch.bfloat16)"), lambda x: x @ x.mT).passed
    assert judged(setting_of("x.sum()"), lambda x: x.sum()).passed
    assert judged(setting_of("x.argmax(1)"), lambda x: x.argmax(1)).passed
    infinite = setting_of("torch.where(x > 0, torch.inf, x)")
    assert judged(infinite, lambda x: torch.where(x > 0, torch.inf, x)).passed


def test_units_that_take_turns_are_not_left_out(setting_of: Made) -> None:
    """Radius and angle one after the other: no slice, and no stretch, is of one of them alone."""
    setting = setting_of("torch.stack([1e7 * x.abs(), torch.atan(x)], -1).flatten()", "torch.randn(4001)")
    assert judged(setting, lambda x: torch.stack([x.abs() * 1e7, torch.atan2(x, x * 0 + 1)], -1).flatten()).passed
    verdict = judged(setting, lambda x: torch.stack([1e7 * x.abs(), 0 * x], -1).flatten())
    assert "in order of size: off by 100% of its own size" in verdict.detail


def test_each_of_few_results_counts(setting_of: Made) -> None:
    few = "torch.stack([x.square().sum(), x.std(), x.diff().square().mean(), x.mean()])"
    setting = setting_of(few, "torch.randn(1 << 16) + 0.25")
    assert judged(
        setting, lambda x: torch.stack([x.dot(x), x.var().sqrt(), (x[1:] - x[:-1]).square().mean(), x.sum() / len(x)])
    ).passed
    verdict = judged(setting, lambda x: torch.stack([x.dot(x), x.std(), x.diff().square().mean(), 0 * x.sum()]))
    assert "the slice at 3 of axis 0: off by 100% of its own size" in verdict.detail


def test_a_few_results_may_be_small_by_chance(setting_of: Made) -> None:
    setting = setting_of("(x @ x.T).sum(0)[:40] - 512", "torch.randn(64, 512)")
    for kernel in (lambda x: x[:40] @ x.sum(0) - 512, lambda x: (x @ x.T).sum(1)[:40] - 512):
        assert judged(setting, kernel).passed
    loose = setting_of("(x @ x.T).sum(0)[:40] - 512", "torch.randn(64, 512)", Rules(reduced_precision=True))
    assert judged(loose, lambda x: (x.bfloat16().float() @ x.bfloat16().float().T).sum(0)[:40] - 512).passed
