"""Results of the middle sizes show who computes these by fewer digits than the largest, and refuse no rounding."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.probes.middles import LABEL, middle_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import where_possible  # noqa: E402

Kernel = Callable[..., Any]
ONE, TWO = ("x", "torch.randn(64, 256)"), ("x, z", "torch.randn(64, 256), torch.randn(64, 256)")


def verdicts(setting: Setting, kernel: Kernel, seeds: int = 4) -> list[bool]:
    seen = []
    for seed in range(seeds):
        for base in setting.bases:
            for way in middle_ways(setting, base, random.Random(seed)):
                probe = where_possible(setting.reference, way)
                if probe is not None:
                    made = kernel(*probe.case.values)
                    seen.append(probe.compare(list(made) if isinstance(made, tuple) else [made]).passed)
    return seen


def cut(x: torch.Tensor) -> torch.Tensor:
    """Twelve binary digits."""
    return ((x.view(torch.int32) + 0x400) & ~0x7FF).view(torch.float32)


def cut_below(bound: float, x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < bound, cut(x), x)


@pytest.mark.parametrize(
    ("problem", "result", "kernel"),
    [
        (ONE, "1.0 / x", lambda x: cut_below(3.3, 1.0 / x)),
        (TWO, "x * torch.exp(4.0 * z)", lambda x, z: cut_below(1.0, x * torch.exp(4.0 * z))),
        (ONE, "x ** 5", lambda x: cut_below(2.0, x**5)),
        (ONE, "(x * 3).exp(), x", lambda x: (cut_below(4.0, (x * 3).exp()), x)),
        (TWO, "(x.exp() / z, x.sum())", lambda x, z: (cut_below(5.0, x.exp() / z), x.sum())),
    ],
)
def test_fewer_digits_of_most_results_show(
    prepared: Callable[..., Setting], problem: tuple[str, str], result: str, kernel: Kernel
) -> None:
    setting = prepared(one_line(*problem, result))
    seen = verdicts(setting, kernel)
    assert len(seen) >= 10
    assert not any(seen)


def test_what_leaves_small_ones_out_is_seen_by_them(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line(*ONE, "1.0 / x"))
    kernel = lambda x: [cut_below(3.3, 1.0 / x)]  # noqa: E731
    wrong = [p.case.label for p in probes(setting, random.Random(1)) if not p.compare(kernel(*p.case.values)).passed]
    assert LABEL in wrong


def by_powers_of_two(x: torch.Tensor) -> torch.Tensor:
    return (x * 1.44269504).exp2()


@pytest.mark.parametrize(
    ("problem", "result", "kernel"),
    [
        (ONE, "1.0 / x", lambda x: torch.reciprocal(x)),
        (ONE, "1.0 / x", lambda x: x * (1.0 / (x * x))),
        (TWO, "x * torch.exp(4.0 * z)", lambda x, z: x * by_powers_of_two(4.0 * z)),
        (TWO, "x * torch.exp(4.0 * z)", lambda x, z: x * by_powers_of_two(z).square().square()),
        (ONE, "x ** 5", lambda x: x.square().square() * x),
        (ONE, "(8 * x).exp()", lambda x: by_powers_of_two(8 * x)),
        (ONE, "(4 * x).expm1()", lambda x: (4 * x).exp() - 1),
        (ONE, "torch.nn.functional.gelu(x) ** 3", lambda x: (0.5 * x * (1 + torch.erf(x * 0.70710678119))) ** 3),
        (ONE, "(4 * x).sinh()", lambda x: (by_powers_of_two(4 * x) - by_powers_of_two(-4 * x)) / 2),
        (ONE, "(9 * x).tan()", lambda x: (9 * x).sin() / (9 * x).cos()),
        (TWO, "x / z", lambda x, z: x * (1 / z)),
        (TWO, "(3 * x).exp() - (3 * z).exp()", lambda x, z: by_powers_of_two(3 * x) - by_powers_of_two(3 * z)),
        (ONE, "x ** 5 - 3 * x ** 3 + x", lambda x: x * (x * x * (x * x - 3) + 1)),
        (ONE, "torch.where(x > 0, (5 * x).exp(), x)", lambda x: torch.where(x > 0, by_powers_of_two(5 * x), x)),
        (TWO, "torch.nn.functional.softplus(x).log() / z", lambda x, z: (1 + x.exp()).log().log() / z),
    ],
)
def test_an_honest_kernel_is_right(
    prepared: Callable[..., Setting], problem: tuple[str, str], result: str, kernel: Kernel
) -> None:
    seen = verdicts(prepared(one_line(*problem, result)), kernel)
    assert len(seen) >= 10
    assert all(seen)


@pytest.mark.parametrize(
    ("names", "inputs", "result"),
    [
        ("x", "torch.randn(64, 256)", "x.exp()"),
        ("x", "torch.randn(64, 256)", "x.relu()"),
        ("x", "torch.randn(8, 8)", "1 / x"),
        ("x", "torch.randn(64, 256)", "(9 * x).exp().cumsum(1)"),
        ("x", "torch.randn(64, 256)", "(9 * x).softmax(1)"),
        ("x, w", "torch.randn(64, 256), torch.randn(256)", "1 / (x * w)"),
        ("x", "torch.randn(64, 256)", "1 / x.roll(1)"),
        ("x", "torch.randn(64, 64).sort().values", "1 / x"),
        ("x", "torch.randn(64, 256) - torch.linspace(0, 30, 256)", "100 * x.sigmoid()"),
        ("x, n", "torch.randn(16, 64), torch.randperm(1024).view(16, 64)", "1 / x + n"),
    ],
)
def test_it_is_for_results_of_their_own_places_that_differ_in_size(
    prepared: Callable[..., Setting], names: str, inputs: str, result: str
) -> None:
    assert verdicts(prepared(one_line(names, inputs, result)), lambda *_: torch.zeros(1)) == []


def test_every_number_is_one_that_was_drawn(prepared: Callable[..., Setting]) -> None:
    names, inputs = (
        "x, z, n, w",
        "torch.randn(64, 256), torch.randn(64, 256), torch.randint(1, 99, (64, 256)), torch.randn(9)",
    )
    setting = prepared(one_line(names, inputs, "x / z.abs() ** 3 * n + w.sum() * 0"))
    base = setting.bases[0]
    (way,) = middle_ways(setting, base, random.Random(3))
    probe = way()
    assert probe is not None
    drawn = {*zip(*(base.values[n].flatten().tolist() for n in range(3)), strict=True)}
    assert {*zip(*(probe.case.values[n].flatten().tolist() for n in range(3)), strict=True)} <= drawn
    assert torch.equal(probe.case.values[3], base.values[3])
    assert float(probe.case.native[0].abs().amax()) < float(base.native[0].abs().quantile(0.8))
