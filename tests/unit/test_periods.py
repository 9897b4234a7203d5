"""Numbers that are larger at even distances show who guesses at a line from a part of it."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.periods import period_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x", "{drawn}")
Kernel = Callable[[torch.Tensor], torch.Tensor]


def verdicts(setting: Setting, kernel: Kernel) -> list[list[bool]]:
    """Of all ways, under several seeds."""
    seen = []
    for seed in range(12):
        probes = [way() for way in period_ways(setting, setting.bases[0], random.Random(seed))]
        seen.append([probe.compare([kernel(*probe.case.values)]).passed for probe in probes if probe is not None])
    return seen


def by_lanes(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(len(x), -1, 64).topk(4, dim=1).values.flatten(1).topk(16).values


def by_skewed_lanes(x: torch.Tensor) -> torch.Tensor:
    rows = x.reshape(len(x), -1, 16, 4)
    at = (torch.arange(16) + torch.arange(rows.shape[1])[:, None]) % 16
    return by_lanes(rows[:, torch.arange(rows.shape[1])[:, None], at].flatten(1))


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        ("x.topk(16).values", lambda x: x.sort(-1, descending=True).values[:, :16]),
        ("x.median(-1).values", lambda x: x.sort(-1).values[:, (x.shape[-1] - 1) // 2]),
        ("x.softmax(-1)", lambda x: (x - x.logsumexp(-1, keepdim=True)).exp()),
        ("x.var(-1)", lambda x: ((x * x).mean(-1) - x.mean(-1).square()) * (4096 / 4095)),
        ("x.cumsum(-1)", lambda x: x.flip(-1).cumsum(-1).flip(-1).neg() + x.sum(-1, keepdim=True) + x),
    ],
)
def test_who_looks_at_all_of_a_line_is_right(prepared: Callable[..., Setting], result: str, kernel: Kernel) -> None:
    seen = verdicts(prepared(SOURCE.format(result=result, drawn="torch.randn(32, 4096)")), kernel)
    assert all(all(each) for each in seen)
    assert all(len(each) == 5 for each in seen)


@pytest.mark.parametrize(("kernel", "times"), [(by_lanes, 11), (by_skewed_lanes, 11)])
def test_who_keeps_a_few_of_each_lane_is_not(prepared: Callable[..., Setting], kernel: Kernel, times: int) -> None:
    seen = verdicts(prepared(SOURCE.format(result="x.topk(16).values", drawn="torch.randn(32, 4096)")), kernel)
    assert sum(not all(each) for each in seen) >= times


def test_lines_that_are_short_are_left_alone(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(result="x.softmax(-1)", drawn="torch.randn(32, 48)"))
    assert period_ways(setting, setting.bases[0], random.Random(1)) == []


def test_a_line_may_lie_along_any_axis(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(result="x.softmax(0)", drawn="torch.randn(512, 3)"))
    [probe, *_] = [way() for way in period_ways(setting, setting.bases[0], random.Random(1))]
    assert probe is not None
    moved = (probe.case.values[0] != setting.bases[0].values[0]).all(1).nonzero()[:, 0]
    assert len(moved) == 64
    assert len(set(moved.diff().tolist())) == 1
