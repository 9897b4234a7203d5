"""Sums that move a result by less than its errors may be have to be in it all the same."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.comparison import Verdict, compare  # noqa: E402
from kernwright.evaluation.errors.left_out import _little_ones, sums_met  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.trial import Trial  # noqa: E402

PHASES = "torch.rand(4, 512) * 6.28"
PULL = "torch.sin(x[:, None, :] - x[:, :, None]).mean(-1)"
STEP = "x + {step} * {pull}"
Kernel = Callable[[torch.Tensor], torch.Tensor]


def met(setting: Setting, kernel: Kernel) -> Verdict:
    trial = SimpleNamespace(setting=setting, rng=random.Random(3), run_case=lambda case: [kernel(*case.values)])
    return sums_met(cast(Trial, trial))


def coupled(step: float) -> Kernel:
    """By sines and cosines of the phases alone."""

    def kernel(x: torch.Tensor) -> torch.Tensor:
        sine, cosine = x.sin().sum(1, keepdim=True), x.cos().sum(1, keepdim=True)
        return x + step * (x.cos() * sine - x.sin() * cosine) / x.shape[1]

    return kernel


def by_itself(step: float) -> Kernel:
    return lambda x: x.clone()


@pytest.mark.parametrize("step", [1e-4, 2e-4])
def test_a_step_without_what_it_adds_is_wrong(prepared: Callable[..., Setting], step: float) -> None:
    setting = prepared(one_line("x", PHASES, STEP.format(step=step, pull=PULL)))
    base = setting.bases[0]
    assert compare([by_itself(step)(*base.values)], base, setting.reference.problem).passed, "by size alone it is right"
    verdict = met(setting, by_itself(step))
    assert not verdict.passed
    assert "`mean` adds is left out" in verdict.detail


BRANCHES = {
    "attention": "torch.nn.functional.scaled_dot_product_attention(x, x, x)",
    "softmax": "x.softmax(-1) * 16",
    "norm": "torch.nn.functional.layer_norm(x, x.shape[-1:])",
    "log of sums": "x.logcumsumexp(-1) * 0.3",
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_that_adds_within_is_not_left_out_either(prepared: Callable[..., Setting], name: str) -> None:
    setting = prepared(one_line("x", "torch.randn(2, 4, 128, 32)", f"x + 2e-6 * {BRANCHES[name]}"))
    base = setting.bases[0]
    assert compare([base.values[0].clone()], base, setting.reference.problem).passed, "by size alone it is right"
    assert "adds is left out" in met(setting, lambda x: x.clone()).detail
    assert met(setting, lambda x: next(each.native[0] for each in setting.bases if each.values[0] is x)).passed


@pytest.mark.parametrize("step", [1e-6, 1e-5, 5e-5, 1e-4, 2e-4, 1e-3])
def test_another_way_to_add_them_is_right(prepared: Callable[..., Setting], step: float) -> None:
    setting = prepared(one_line("x", PHASES, STEP.format(step=step, pull=PULL)))
    assert met(setting, coupled(step)).passed
    assert met(setting, lambda x: x + step * torch.sin(x[:, None, :] - x[:, :, None]).cumsum(-1)[..., -1] / 512).passed


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        ("x @ x.T", "torch.randn(64, 64)"),
        ("x - x.mean(-1, keepdim=True)", "torch.randn(64, 64)"),
        ("x.softmax(-1)", "torch.randn(64, 64)"),
        ("x / x.square().mean(-1, keepdim=True).sqrt()", "torch.randn(64, 64)"),
        ("x.exp()", "torch.randn(64, 64)"),
    ],
)
def test_where_sums_are_most_of_a_result_nothing_is_asked(
    prepared: Callable[..., Setting], result: str, drawn: str
) -> None:
    setting: Any = prepared(one_line("x", drawn, result))
    assert _little_ones(setting) == ()


def test_where_a_last_digit_hides_them_nothing_is_asked(prepared: Callable[..., Setting]) -> None:
    assert _little_ones(prepared(one_line("x", PHASES, STEP.format(step=1e-7, pull=PULL)))) == ()


def test_what_a_reference_casts_hides_no_branch(prepared: Callable[..., Setting]) -> None:
    gain = "1 + 0.003 * torch.tanh(y @ w.T)"
    inputs = "torch.randn(256, 128), torch.randn(256, 128), torch.randn(128, 128) / 11"
    setting = prepared(one_line("x, y, w", inputs, f"(x.bfloat16() @ w.bfloat16()).float() * ({gain})"))
    base = setting.bases[0]
    x, _, w = base.values
    assert compare([x @ w], base, setting.reference.problem).passed, "by size alone it is right"

    def verdict(kernel: Callable[..., torch.Tensor]) -> Verdict:
        trial = SimpleNamespace(setting=setting, rng=random.Random(3), run_case=lambda case: [kernel(*case.values)])
        return sums_met(cast(Trial, trial))

    assert "`mm` adds is left out" in verdict(lambda x, y, w: x @ w).detail
    assert verdict(lambda x, y, w: (x @ w) * (1 + 0.003 * torch.tanh(y @ w.T))).passed
    assert verdict(lambda x, y, w: (x.half() @ w.half()) * (1 + 0.003 * torch.tanh(y @ w.T))).passed
