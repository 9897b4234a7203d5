"""Numbers that are only moved, or scaled without rounding, come out to the last bit; whoever reckons may round."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.probes.exactness import exact_ways  # noqa: E402
from kernwright.evaluation.probes.probe import Probe  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

X = "x", "torch.randn(32, 128)"
X_AND_FLAGS = "x, m", "torch.randn(32, 128), torch.rand(32, 128) < 0.1"


def asked(prepared: Callable[..., Setting], names: str, inputs: str, result: str) -> Probe | None:
    """Whether numbers have to come out unaltered, and how that is seen."""
    setting = prepared(one_line(names, inputs, result))
    return exact_ways(setting, setting.bases[0], random.Random(1))[0]()


@pytest.mark.parametrize(
    ("names", "inputs", "result"),
    [
        (*X, "x.sort(-1).values"),
        (*X, "x.max(-1)"),
        (*X, "x.topk(4).values"),
        (*X, "x.flip(0)"),
        (*X, "torch.cummax(x, 0).values"),
        (*X, "x.clamp(-1.3, 0.7)"),
        (*X, "x.sort(-1).values.neg() * 2"),
        (*X, "x.sort(-1).values.double() / 4"),
        ("x", "torch.rand(32, 128)", "x.sort(-1).values"),
        (*X_AND_FLAGS, "x.masked_fill(m, float('inf')).sort(-1).values"),
        (*X_AND_FLAGS, "x.masked_fill(m, -1e9).sort(-1).values"),
        ("x, y, m", "torch.randn(64), torch.randn(64), torch.rand(64) < 0.5", "torch.where(m, x, y)"),
        ("x, at", "torch.randn(64, 8), torch.randint(0, 64, (99,))", "x[at]"),
    ],
)
def test_what_only_moves_is_not_altered(prepared: Callable[..., Setting], names: str, inputs: str, result: str) -> None:
    assert asked(prepared, names, inputs, result)


@pytest.mark.parametrize(
    ("names", "inputs", "result"),
    [
        (*X, "x * 3"),
        (*X, "x * x"),
        (*X, "x.softmax(-1)"),
        (*X, "x.argmax(-1)"),
        (*X, "x.view(32, 64, 2).mean(-1)"),
        (*X, "(x * 16).floor() / 16"),
        ("x, y", "torch.rand(32, 128), torch.rand(32, 128)", "x - y"),
        ("x", "torch.rand(32, 128)", "x.diff(dim=-1)"),
        ("x", "torch.randn(512, 512).half()", "x.sort(-1).values"),
        ("x", "torch.randint(0, 9, (32, 128)).float()", "x + x.flip(0)"),
        ("x", "torch.randint(0, 100, (32, 128)).float()", "x // 2"),
        ("x, y", "torch.rand(64), torch.rand(64)", "torch.lerp(x, y, 0.25)"),
        ("x", "torch.randn(64, dtype=torch.complex64)", "x.flip(0)"),
        ("x", "torch.rand(12, 64)", "x.max(-1).values"),
        ("x", "torch.randn(32, 256)", "torch.stack([x[:, :128].sum(-1), x.amax(-1)])"),
    ],
)
def test_who_may_round_is_left_alone(prepared: Callable[..., Setting], names: str, inputs: str, result: str) -> None:
    assert not asked(prepared, names, inputs, result)


def test_what_is_reckoned_beside_it_may_round(prepared: Callable[..., Setting]) -> None:
    probe = asked(prepared, *X, "(x.sort(-1).values, x.mean(-1)[:3])")
    assert probe is not None
    ordered, means = (t.clone() for t in probe.case.native)
    assert probe.compare([ordered, means * 1.001]).passed
    assert not probe.compare([ordered * 1.001, means]).passed


def test_where_products_may_round_nothing_is_asked(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line(*X, "x.flip(0)"), rules=Rules(precision="tf32"))
    assert exact_ways(setting, setting.bases[0], random.Random(1))[0]() is None


def test_gradients_may_be_rounded(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line(*X, "x.max(-1).values"), backward=True)
    assert exact_ways(setting, setting.bases[0], random.Random(1))[0]() is None


@pytest.mark.parametrize("result", ["x.sort(-1).values", "x.sort(-1).values.neg() * 2"])
def test_last_bits_show(prepared: Callable[..., Setting], result: str) -> None:
    probe = asked(prepared, *X, result)
    assert probe is not None
    [right] = probe.case.native
    assert probe.compare([right.clone()]).passed
    altered = (right.view(torch.int32) & ~31).view(torch.float32)
    verdict = probe.compare([altered])
    assert not verdict.passed
    assert "come out altered" in verdict.detail


def test_a_choice_that_is_reckoned_may_round(prepared: Callable[..., Setting]) -> None:
    probe = asked(prepared, "x, y, m", "torch.randn(64), torch.randn(64), torch.rand(64) < 0.5", "torch.where(m, x, y)")
    assert probe is not None
    x, y, m = probe.case.values
    assert probe.compare([y + m * (x - y)]).passed
