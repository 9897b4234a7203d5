"""An input shifted as a whole shows who counts on where its numbers lie, and refuses nobody for lost digits."""

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.shifts import APART, _apart, shift_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "{drawn}, torch.randn(32)", "{result}")
Kernel = Callable[[torch.Tensor, torch.Tensor], Any]


def verdicts(setting: Setting, kernel: Kernel) -> list[bool]:
    """Of all shifts under several seeds."""
    seen = []
    for seed in range(12):
        for way in shift_ways(setting, setting.bases[0], random.Random(seed)):
            probe = way()
            if probe is not None:
                made = kernel(*probe.case.values)
                seen.append(probe.compare(list(made) if isinstance(made, tuple) else [made]).passed)
    return seen


def by_squares(x: torch.Tensor) -> torch.Tensor:
    """The variance, of which digits are lost far from 0."""
    return ((x * x).mean(-1) - x.mean(-1).square()) * (32 / 31)


@pytest.mark.parametrize(
    ("result", "drawn", "kernel"),
    [
        ("torch.sigmoid(x) + 0 * y", "torch.randn(64, 32) * 6", lambda x, y: torch.tanh(x / 2) * 0.5 + 0.5 + 0 * y),
        ("x.var(-1), x.softmax(-1)", "torch.randn(64, 32)", lambda x, y: (by_squares(x), x.softmax(-1))),
        ("torch.expm1(x) * y", "torch.randn(64, 32) * 0.01", lambda x, y: (x.exp() - 1) * y),
        ("(x * y).sum(-1)", "torch.randn(64, 32)", lambda x, y: x @ y),
    ],
)
def test_digits_are_nobodys_fault(prepared: Callable[..., Setting], result: str, drawn: str, kernel: Kernel) -> None:
    setting = prepared(SOURCE.format(result=result, drawn=drawn))
    seen = verdicts(setting, kernel)
    assert seen
    assert all(seen)


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        ("torch.cumprod(x.sigmoid(), -1) @ y", lambda x, y: torch.cumprod(x.sigmoid(), -1)[:, :12] @ y[:12]),
        ("torch.log1p(x.exp()) * y", lambda x, y: torch.log1p(x.clamp(max=4).exp()) * y),
    ],
)
def test_what_is_left_out_shows(prepared: Callable[..., Setting], result: str, kernel: Kernel) -> None:
    seen = verdicts(prepared(SOURCE.format(result=result, drawn="torch.randn(64, 32)")), kernel)
    assert seen.count(False) >= 6


def test_any_two_of_several_are_shifted_to_different_sides() -> None:
    for numbers in ([], [5], [5, 7], [5, 7, 2], [5, 7, 2, 9]):
        ways = _apart(numbers)
        for one, other in combinations(numbers, 2):
            assert {(sides[one], sides[other]) for sides in ways} >= {(1, -1), (-1, 1)}
        assert len(ways) <= 4


def test_who_stops_where_two_gates_have_forgotten_all_that_was_drawn_is_wrong(prepared: Callable[..., Setting]) -> None:
    """Alone neither leaves more than half of it, nor do both that go the same way."""
    setting = prepared(
        one_line(
            "x, y", "torch.randn(32, 512), torch.randn(32, 512)", "(x.sigmoid() * (-y).sigmoid()).cumprod(1).sum(1)"
        )
    )

    def early(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x[:, :64].sigmoid() * (-y[:, :64]).sigmoid()).cumprod(1).sum(1)

    def labels(seed: int) -> set[str]:
        probes = [way() for way in shift_ways(setting, setting.bases[0], random.Random(seed))]
        known = [probe for probe in probes if probe is not None]
        return {probe.case.label for probe in known if not probe.compare([early(*probe.case.values)]).passed}

    assert all(labels(seed) == {APART} for seed in range(6))
