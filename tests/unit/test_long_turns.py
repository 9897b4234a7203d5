"""Numbers of many turns, of references that take turns away: asked for where these are sure alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import probed  # noqa: E402

from kernwright.evaluation.probes.long_turns import LABEL  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return {result}


def get_inputs():
    return [torch.randn(4096) * {size}, torch.rand(4096).sin() + 0.5]
"""
Prepared = Callable[..., Setting]
Kernel = Callable[[Any, Any], Any]
verdicts = partial(probed.verdicts, label=LABEL)


def in_float32(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Turns of three quarters, right as long as the number of these is exact."""
    return (x - (x / 0.75).trunc() * 0.75).view(64, 64)


@pytest.mark.parametrize(
    ("result", "size", "right", "wrong"),
    [
        (
            "torch.fmod(x, y)",
            50,
            lambda x, y: x.double().fmod(y.double()).float(),
            lambda x, y: x - (x / y).trunc() * y,
        ),
        ("x.view(64, 64).fmod(0.75)", 3, lambda x, y: x.view(64, 64).double().fmod(0.75).float(), in_float32),
        ("x.fmod(2.0).exp() * y", 1, lambda x, y: torch.exp2(x.fmod(2.0) * 1.4426950408889634) * y, None),
    ],
)
def test_large_numbers_have_their_remainders(
    prepared: Prepared, result: str, size: int, right: Kernel, wrong: Kernel | None
) -> None:
    setting = prepared(SOURCE.format(result=result, size=size))
    found = verdicts(setting, right)
    assert found
    assert all(found)
    assert wrong is None or not any(verdicts(setting, wrong))


@pytest.mark.parametrize(
    "result",
    [
        "torch.sin(x)",
        "x % y",
        "torch.fmod(x * y.exp(), y)",
        "torch.fmod(x + y, y)",
        "torch.exp(-x.abs())",
        "(x, x.sigmoid())",
        "torch.layer_norm(x, (9,))",
    ],
)
def test_nothing_is_asked_of_others(prepared: Prepared, result: str) -> None:
    source = SOURCE.format(result=result, size=1).replace("4096) *", "4095).view(455, 9) *").replace("4096", "9")
    assert not verdicts(prepared(source), lambda x, y: x)
