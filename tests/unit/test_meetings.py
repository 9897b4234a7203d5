"""Inputs whose numbers are compared with all of another's, and are equal to one of them now and then."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import probed  # noqa: E402

from kernwright import zoo  # noqa: E402
from kernwright.evaluation.probes.meetings import LABEL  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return {result}


def get_inputs():
    return [torch.randn({first}), torch.randn({second})]
"""
Prepared = Callable[..., Setting]
Kernel = Callable[[Any, Any], Any]
verdicts = partial(probed.verdicts, label=LABEL)


def kernel_of(kind: Any, name: str) -> Kernel:
    """What a member of the zoo does."""
    held: dict[str, Any] = {}
    exec(next(member.text for member in zoo.members(kind) if member.name == name), held)
    made: Kernel = held["kernel"]
    return made


def test_corners_at_the_height_of_a_point(prepared: Prepared) -> None:
    source = zoo.problem("points_in_a_polygon").source.replace(
        "(points: int, corners: int)", "(points=2000, corners=40)"
    )
    setting = prepared(source)
    right = verdicts(setting, kernel_of("honest", "winds_around_each_point"))
    assert right
    assert all(right)
    assert not any(verdicts(setting, kernel_of("hacks", "a10_sides_closed_at_both_ends")))


@pytest.mark.parametrize(
    ("result", "first", "second", "right", "wrong"),
    [
        (
            "(x[:, None] > y[None, :]).sum(-1)",
            "500",
            "60",
            lambda x, y: torch.searchsorted(y.sort().values, x),
            lambda x, y: torch.searchsorted(y.sort().values, x, right=True),
        ),
        (
            "(x[None, :] > y[:, None]).sum(-1)",
            "60",
            "500",
            lambda x, y: 60 - torch.searchsorted(x.sort().values, y, right=True),
            lambda x, y: 60 - torch.searchsorted(x.sort().values, y),
        ),
        (
            "torch.where(x >= y, x.exp(), 0.0)",
            "64, 32",
            "64, 1",
            lambda x, y: x.exp() * (x >= y),
            lambda x, y: x.exp() * (x > y),
        ),
    ],
)
def test_equal_numbers_are_on_one_side(
    prepared: Prepared, result: str, first: str, second: str, right: Kernel, wrong: Kernel
) -> None:
    setting = prepared(SOURCE.format(result=result, first=first, second=second))
    found = verdicts(setting, right)
    assert found
    assert all(found)
    assert not any(verdicts(setting, wrong))


def test_what_a_last_digit_decides_is_not_asked(prepared: Prepared) -> None:
    setting = prepared(SOURCE.format(result="(x[:, None] == y[None, :]).sum(-1)", first="500", second="60"))
    assert all(verdicts(setting, lambda x, y: torch.zeros(500, dtype=torch.int64)))
