"""Numbers that keep below 1 come nearer to it than any that was drawn, and stay what else all draws are."""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402

from kernwright.evaluation.probes.near_one import near_one_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

DRAWN = "0.5 + 0.4 * torch.rand(64)"


def _verdicts(setting: Setting, kernel: Callable[..., Any]) -> list[bool]:
    probes = [way() for way in near_one_ways(setting, setting.bases[0], random.Random(3))]
    return [probe.compare([kernel(*probe.case.values)]).passed for probe in probes if probe is not None]


def _returns(discount: Any, steps: int) -> Any:
    return (discount[:, None] ** torch.arange(steps)).sum(1)


@pytest.mark.parametrize("drawn", [DRAWN, f"-({DRAWN})"])
def test_who_stops_where_nothing_is_left_of_what_was_drawn_is_wrong(
    prepared: Callable[..., Setting], drawn: str
) -> None:
    result = "(x.abs()[:, None] ** torch.arange(2048)).sum(1)"
    setting = prepared(one_line("x", drawn, result))
    assert _verdicts(setting, lambda x: _returns(x.abs(), 128)) == [False, False]
    assert _verdicts(setting, lambda x: _returns(x.abs(), 2048)) == [True, True]


def test_they_are_nearer_than_any_and_below_it(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", DRAWN, "1 / (1 - x)"))
    probes = [way() for way in near_one_ways(setting, setting.bases[0], random.Random(5))]
    everywhere, few = (probe.case.values[0] for probe in probes if probe is not None)
    assert 0.9 < float(everywhere.min()) <= float(everywhere.max()) < 1
    assert 0 < int((few > 0.9).sum()) < 32


def test_complex_numbers_come_nearer_to_the_circle_and_keep_their_directions(prepared: Callable[..., Setting]) -> None:
    drawn = "torch.polar(0.5 + 0.4 * torch.rand(64), 6 * torch.rand(64))"
    setting = prepared(one_line("x", drawn, "(x[:, None] ** torch.arange(2048)).sum(1).abs()"))
    assert _verdicts(setting, lambda x: _returns(x, 128).abs()) == [False, False]
    assert _verdicts(setting, lambda x: _returns(x, 2048).abs()) == [True, True]
    for probe in (way() for way in near_one_ways(setting, setting.bases[0], random.Random(5))):
        assert probe is not None
        assert torch.allclose(probe.case.values[0].sgn(), setting.bases[0].values[0].sgn(), atol=1e-5)


@pytest.mark.parametrize(
    "drawn",
    [
        "torch.randn(64, dtype=torch.complex64) / 8",
        "torch.rand(64)",
        "torch.randn(64)",
        "2 + torch.rand(64)",
        "0.5 + 0.5 * (torch.rand(64) > 0.5).float()",
        "(0.5 + 0.4 * torch.rand(64)).sort()[0]",
        "torch.softmax(torch.randn(64, 2) / 4, 1)",
    ],
)
def test_others_stay_as_they_are(prepared: Callable[..., Setting], drawn: str) -> None:
    setting = prepared(one_line("x", drawn, "x * 2"))
    assert near_one_ways(setting, setting.bases[0], random.Random(1)) == []
