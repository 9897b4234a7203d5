"""Of a problem that asks for gradients, results are asked for where numbers are equal, and gradients are not."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.extremes import equal_ways  # noqa: E402
from kernwright.evaluation.probes.results_alone import results_alone, tie_probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "torch.randn(48, 64), torch.randn(48, 64)", backward="True")
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
HERE = {"torch": torch, "nn": torch.nn.functional}
SEEDS = range(4)


def _refused(setting: Setting, kernel: Kernel, seed: int) -> list[str]:
    """By which probes, of a kernel that has no gradients to show for them."""
    alone, rng, found = results_alone(setting), random.Random(seed), list[str]()
    assert alone is not None
    for probe in tie_probes(alone, rng, equal_ways(alone, rng)):
        x, y, along = probe.case.values
        assert torch.equal(along, next(b for b in setting.bases if b.seed == probe.case.seed).values[2])
        if not probe.compare([kernel(x, y), torch.full_like(x, torch.nan), torch.full_like(y, torch.nan)]).passed:
            found.append(probe.case.label)
    return found


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param(
            "x * (x[:, None] < x[..., None]).sum(-1) * y",
            lambda x, y: x * x.argsort(-1).argsort(-1) * y,
            id="ranks",
        ),
        pytest.param(
            "x.topk(8, dim=-1).values.sum(-1) + y[:, 0]",
            lambda x, y: torch.where(x >= x.topk(8).values[:, -1:], x, 0.0).sum(-1) + y[:, 0],
            id="more than are asked for",
        ),
        pytest.param("x / (x[..., None] == x[:, None]).sum(-1) * y", lambda x, y: x * y, id="equal ones"),
        pytest.param(
            "torch.where(x >= 1.0, 2 * x, y) * y", lambda x, y: torch.where(x > 1, 2 * x, y) * y, id="a bound"
        ),
        pytest.param("torch.where(x == 0.0, 9.0 * y, x) * y", lambda x, y: x * y, id="a mark"),
    ],
)
def test_a_result_that_is_wrong_of_equal_numbers_shows(
    prepared: Callable[..., Setting], result: str, kernel: Kernel
) -> None:
    setting = prepared(SOURCE.format(result=result), backward=True)
    usual = setting.bases[0]
    assert torch.allclose(usual.native[0], kernel(*usual.values[:2]), atol=1e-5)  # no draw shows it
    assert all(_refused(setting, kernel, seed) for seed in SEEDS)
    right: Kernel = lambda x, y: eval(result, HERE | {"x": x, "y": y})  # noqa: E731
    assert not any(_refused(setting, right, seed) for seed in SEEDS)


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param("torch.relu(x - y)", lambda x, y: torch.where(x > y, x - y, 0.0), id="a kink"),
        pytest.param(
            "torch.softmax(x * y, -1)",
            lambda x, y: (x * y - (x * y).logsumexp(-1, keepdim=True)).exp(),
            id="softmax",
        ),
        pytest.param(
            "torch.nn.functional.layer_norm(x, (64,)) * y",
            lambda x, y: (x - x.mean(1, True)) * (x.var(1, correction=0, keepdim=True) + 1e-5).rsqrt() * y,
            id="layer norm",
        ),
        pytest.param(
            "y.gather(-1, x.argmax(-1, keepdim=True)) * x",
            lambda x, y: y.gather(-1, 63 - x.flip(-1).argmax(-1, keepdim=True)) * x,
            id="beside the largest",
        ),
        pytest.param(
            "torch.take_along_dim(y, x.argsort(-1), -1) * x",
            lambda x, y: torch.take_along_dim(y, (-x).argsort(-1, descending=True), -1) * x,
            id="in an order",
        ),
        pytest.param(
            "torch.cdist(x, y)",
            lambda x, y: (x.square().sum(1)[:, None] + y.square().sum(1) - 2 * x @ y.T).clamp(min=0).sqrt(),
            id="distances",
        ),
        pytest.param(
            "x.clamp(-1, 1) / (1e-6 + y.abs().amax(-1, keepdim=True))",
            lambda x, y: (
                torch.minimum(torch.maximum(x, -torch.ones_like(x)), torch.ones_like(x))
                / (1e-6 + torch.maximum(y.amax(-1, keepdim=True), -y.amin(-1, keepdim=True)))
            ),
            id="bounds",
        ),
        pytest.param(
            "(x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * y",
            lambda x, y: (
                (x - x.sum(-1, keepdim=True) / 64)
                / ((x - x.mean(-1, keepdim=True)).square().sum(-1, keepdim=True) / 63).sqrt()
                * y
            ),
            id="by a deviation",
        ),
    ],
)
def test_who_chooses_otherwise_among_equal_numbers_is_right(
    prepared: Callable[..., Setting], result: str, kernel: Kernel
) -> None:
    setting = prepared(SOURCE.format(result=result), backward=True)
    assert {seed: labels for seed in SEEDS if (labels := _refused(setting, kernel, seed))} == {}


def test_only_problems_with_gradients_are_looked_at_once_more(prepared: Callable[..., Setting]) -> None:
    assert results_alone(prepared(one_line("x", "torch.randn(48, 64)", "x * 2"))) is None
    setting = prepared(SOURCE.format(result="x * y"), backward=True)
    alone = results_alone(setting)
    assert alone is not None
    assert alone.names == ["output 0"]
    assert [len(base.native) for base in alone.bases] == [1] * len(setting.bases)
    assert len(setting.bases[0].native) == 3
    assert [len(base.oracle) for base in alone.bases] == [1] * len(setting.bases)
    assert not alone.alters(2, alone.bases[0].values[2])
