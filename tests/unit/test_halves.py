"""Where a problem rounds, numbers that are half-way between two are tried, and last digits accuse nobody."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.halves import halfway_ways  # noqa: E402
from kernwright.evaluation.probes.probe import Probe  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

IMAGE = "torch.rand(4, 64, 64) * 255"
MEAN = "torch.round((x[:, ::2] + x[:, 1::2]) / 4)"
SUMS = "torch.round(x * 3).sum(-1)"
Kernel = Callable[[torch.Tensor], torch.Tensor]


def probe_of(prepared: Callable[..., Setting], result: str, drawn: str, seed: int = 0) -> Probe | None:
    setting, rng = prepared(one_line("x", drawn, result)), random.Random(seed)
    ways = halfway_ways(setting, setting.bases[0], rng)
    return ways[0]() if ways else None


def half_up(x: torch.Tensor) -> torch.Tensor:
    return (x + 0.5).floor()


def as_in_c(x: torch.Tensor) -> torch.Tensor:
    return torch.trunc(x + torch.copysign(torch.tensor(0.5), x))


def by_a_large_number(x: torch.Tensor) -> torch.Tensor:
    return (x + 1.5 * 2**23) - 1.5 * 2**23


def a_last_digit_off(x: torch.Tensor) -> torch.Tensor:
    """As a filter by way of a Fourier transform is."""
    return (x * (1 + 1e-6 * torch.randn(x.shape))).round()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("rounds", "right"), [(half_up, False), (as_in_c, False), (by_a_large_number, True), (a_last_digit_off, True)]
)
def test_half_way_the_even_one_is_right(
    prepared: Callable[..., Setting], rounds: Kernel, right: bool, seed: int
) -> None:
    probe = probe_of(prepared, MEAN, IMAGE, seed)
    assert probe is not None
    x = probe.case.values[0]
    verdict = probe.compare([rounds((x[:, ::2] + x[:, 1::2]) / 4)])
    assert verdict.passed is right, verdict.detail
    assert right or "half-way" in verdict.detail


@pytest.mark.parametrize("rounds", [half_up, as_in_c])
def test_the_same_in_sums_of_what_was_rounded(prepared: Callable[..., Setting], rounds: Kernel) -> None:
    probe = probe_of(prepared, SUMS, "torch.randn(64, 32) * 10")
    assert probe is not None
    x = probe.case.values[0]
    assert not probe.compare([rounds(x * 3).sum(-1)]).passed
    assert probe.compare([(x * 3).round().flip(-1).sum(-1)]).passed


def test_what_is_no_number_or_left_out_is_wrong(prepared: Callable[..., Setting]) -> None:
    probe = probe_of(prepared, MEAN, IMAGE)
    assert probe is not None
    assert not probe.compare([torch.full_like(probe.case.native[0], torch.nan)]).passed
    assert not probe.compare([torch.zeros_like(probe.case.native[0])]).passed


@pytest.mark.parametrize("result", ["torch.floor(x)", "torch.relu(x)", "torch.round(x / 0.3)"])
def test_where_nothing_is_half_way_nothing_is_asked(prepared: Callable[..., Setting], result: str) -> None:
    assert probe_of(prepared, result, IMAGE) is None
