"""Zeros of both signs show who compares numbers by their bits, and refuse nobody who chooses among equal ones."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.probes.signed_zeros import LABEL, signed_zero_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import where_possible  # noqa: E402

Kernel = Callable[..., Any]
ROWS, WHOLE = "torch.randn(32, 48)", "(torch.randn(32, 48) * 2).round() + 0.0"
RANKS = "(x[:, :, None] > x[:, None, :]).sum(-1)"
EQUAL = "(x[:, :, None] == x[:, None, :]).sum(-1)"


def key(x: torch.Tensor) -> torch.Tensor:
    """In the order of the numbers, but that -0 comes before 0."""
    bits = x.contiguous().view(torch.int32)
    return torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


def right_key(x: torch.Tensor) -> torch.Tensor:
    return key(torch.where(x == 0, 0.0, x))


def verdicts(setting: Setting, kernel: Kernel, seeds: int = 6) -> list[bool]:
    seen = []
    for seed in range(seeds):
        for way in signed_zero_ways(setting, setting.bases[0], random.Random(seed)):
            probe = where_possible(setting.reference, way)
            if probe is not None:
                made = kernel(*probe.case.values)
                seen.append(probe.compare(list(made) if isinstance(made, tuple) else [made]).passed)
    return seen


BY_BITS: list[tuple[str, str, str, Callable[[Callable[[torch.Tensor], torch.Tensor]], Kernel]]] = [
    ("x", ROWS, "x.sort(dim=-1, stable=True).indices", lambda k: lambda x: k(x).sort(dim=-1, stable=True).indices),
    ("x", ROWS, "x.argmax(-1)", lambda k: lambda x: k(x).argmax(-1)),
    ("x", ROWS, "x.argmin(0)", lambda k: lambda x: k(x).argmin(0)),
    ("x", "torch.randn(4096)", "x.argsort(stable=True)", lambda k: lambda x: k(x).argsort(stable=True)),
    ("x", ROWS, RANKS, lambda k: lambda x: (k(x)[:, :, None] > k(x)[:, None, :]).sum(-1)),
    ("x", ROWS, EQUAL, lambda k: lambda x: (k(x)[:, :, None] == k(x)[:, None, :]).sum(-1)),
    ("x", WHOLE, EQUAL, lambda k: lambda x: (k(x)[:, :, None] == k(x)[:, None, :]).sum(-1)),
    (
        "x",
        ROWS,
        f"{EQUAL}.float().mean(-1)",
        lambda k: lambda x: (k(x)[:, :, None] == k(x)[:, None, :]).sum(-1).float().mean(-1),
    ),
    ("x, y", f"{ROWS}, {ROWS}", "(x <= y).sum(-1)", lambda k: lambda x, y: (k(x) <= k(y)).sum(-1)),
    (
        "s, x",
        "torch.sort(torch.randn(256)).values, torch.randn(64, 256)",
        "torch.searchsorted(s, x)",
        lambda k: lambda s, x: torch.searchsorted(k(s), k(x)),
    ),
]


@pytest.mark.parametrize(("names", "inputs", "result", "kernel"), BY_BITS)
def test_who_compares_bits_is_refused(
    prepared: Callable[..., Setting], names: str, inputs: str, result: str, kernel: Callable[..., Kernel]
) -> None:
    setting = prepared(one_line(names, inputs, result))
    assert verdicts(setting, kernel(key)).count(False) >= 4
    assert all(verdicts(setting, kernel(right_key), 3))


def last_of_equal(x: torch.Tensor) -> torch.Tensor:
    return x.shape[-1] - 1 - x.flip(-1).argsort(dim=-1, stable=True)


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        ("x.argsort(-1)", last_of_equal),
        ("x.argsort(-1)", lambda x: key(x).argsort(-1)),
        ("x.topk(5, -1)", lambda x: (x.topk(5, -1).values, key(x).topk(5, -1).indices)),
        ("x.median(-1)", lambda x: (x.sort(-1).values[:, 23], key(x).argsort(-1)[:, 23])),
        ("x.sort(-1).values", lambda x: x.gather(-1, key(x).argsort(-1))),
        ("x.max(-1).values", lambda x: x.gather(-1, key(x).argmax(-1, keepdim=True))[:, 0]),
        (
            "torch.bincount(x.argsort(-1)[:, 0], minlength=48)",
            lambda x: torch.bincount(key(x).argmin(-1), minlength=48),
        ),
        ("x.roll(1, 1).gather(1, x.argsort(-1)[:, :1])", lambda x: x.roll(1, 1).gather(1, last_of_equal(x)[:, :1])),
        ("(x > 0) * x.exp()", lambda x: (x.view(torch.int32) > 0) * (x * 1.44269504).exp2()),
    ],
)
def test_who_chooses_among_equal_ones_is_right(prepared: Callable[..., Setting], result: str, kernel: Kernel) -> None:
    seen = verdicts(prepared(one_line("x", ROWS, result)), kernel)
    assert seen
    assert all(seen)


@pytest.mark.parametrize("result", ["(1 / x).argmax(-1)", "torch.atan2(x, -x.abs()) > 1", "x.signbit()"])
def test_what_tells_zeros_apart_is_not_asked(prepared: Callable[..., Setting], result: str) -> None:
    setting = prepared(one_line("x", ROWS, result))
    shape = setting.bases[0].native[0]
    assert all(verdicts(setting, lambda x: torch.zeros_like(shape)))


@pytest.mark.parametrize(
    ("inputs", "result"),
    [
        (ROWS, "x.exp().sum(-1)"),
        ("(torch.rand(64, 96) > 0.5).float()", "x == 0"),
        ("torch.rand(64, 96) + 1", "x > 1.5"),
    ],
)
def test_nothing_is_asked_where_there_is_nothing_to_ask(
    prepared: Callable[..., Setting], inputs: str, result: str
) -> None:
    assert verdicts(prepared(one_line("x", inputs, result)), lambda x: torch.zeros(1)) == []


def test_an_input_has_zeros_of_both_signs_at_some_of_its_places(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", ROWS, "x.argmax(-1)"))
    for seed in range(4):
        for way in signed_zero_ways(setting, setting.bases[0], random.Random(seed)):
            probe = way()
            assert probe is not None
            zeros = probe.case.values[0] == 0
            assert 0.1 <= float(zeros.double().mean()) <= 0.6
            assert 0.4 <= float(probe.case.values[0][zeros].signbit().double().mean()) <= 0.6
            drawn = setting.bases[0].values[0]
            assert torch.equal(probe.case.values[0][~zeros], drawn[~zeros])


def test_a_gradient_at_0_is_a_choice(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", ROWS, "(x > 0) * x"), backward=True)
    assert signed_zero_ways(setting, setting.bases[0], random.Random(1)) == []


@pytest.mark.parametrize("inputs", [ROWS, WHOLE])
def test_the_judge_asks_for_them(prepared: Callable[..., Setting], inputs: str) -> None:
    setting = prepared(one_line("x", inputs, EQUAL))
    found = [probe for probe in probes(setting, random.Random(1)) if probe.case.label == LABEL]
    assert found
    for probe in found:
        bits = key(probe.case.values[0])
        assert not probe.compare([(bits[:, :, None] == bits[:, None, :]).sum(-1)]).passed
