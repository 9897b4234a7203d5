"""Numbers that only move come out as they went in; whoever reckons may round."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.selections import selection_ways  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402


def asked(prepared: Callable[..., Setting], names: str, inputs: str, result: str, *, backward: bool = False) -> bool:
    """Whether numbers have to come out unaltered."""
    setting = prepared(one_line(names, inputs, result), backward=backward)
    return selection_ways(setting, setting.bases[0], random.Random(1))[0]() is not None


@pytest.mark.parametrize(
    "result",
    ["x.sort(-1).values", "x.max(-1)", "x.topk(4).values", "x.flip(0)", "torch.cummax(x, 0).values", "x.clamp(-9, 9)"],
)
def test_what_only_moves_is_not_altered(prepared: Callable[..., Setting], result: str) -> None:
    assert asked(prepared, "x", "torch.randn(32, 128)", result)


@pytest.mark.parametrize(
    ("names", "inputs", "result"),
    [
        ("x", "torch.randn(32, 128)", "x * 2"),
        ("x", "torch.randn(32, 128)", "x.softmax(-1)"),
        ("x", "torch.randn(32, 128)", "x.argmax(-1)"),
        ("x", "torch.randn(512, 512).half()", "x * 0.5"),
        ("x", "torch.randn(512, 512).half()", "x.sort(-1).values"),
        ("x", "torch.randint(0, 100, (32, 128)).float()", "x // 2"),
        ("x, y, m", "torch.randn(64), torch.randn(64), torch.rand(64) < 0.5", "torch.where(m, x, y)"),
        ("x, y, m", "torch.randn(64), torch.randn(64), (torch.rand(64) < 0.5).float()", "x * m + y * (1 - m)"),
        ("x, at", "torch.randn(64, 8), torch.randint(0, 64, (99,))", "x[at]"),
        ("x", "torch.randn(64, dtype=torch.complex64)", "x.flip(0)"),
        ("x", "torch.rand(12, 64)", "x.max(-1).values"),
    ],
)
def test_who_may_round_is_left_alone(prepared: Callable[..., Setting], names: str, inputs: str, result: str) -> None:
    assert not asked(prepared, names, inputs, result)


def test_gradients_may_be_rounded(prepared: Callable[..., Setting]) -> None:
    assert not asked(prepared, "x", "torch.randn(32, 128)", "x.max(-1).values", backward=True)


def test_a_last_bit_shows(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", "torch.randn(32, 128)", "x.sort(-1).values"))
    probe = selection_ways(setting, setting.bases[0], random.Random(1))[0]()
    assert probe is not None
    [x], [right] = probe.case.values, probe.case.native
    assert probe.compare([x.sort(-1).values]).passed
    altered = (right.view(torch.int32) & ~1).view(torch.float32)
    verdict = probe.compare([altered])
    assert not verdict.passed
    assert "come out altered" in verdict.detail
