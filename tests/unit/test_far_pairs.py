"""Inputs in float64 that are far from 0 and near each other, where results are in float32."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import probed  # noqa: E402

from kernwright.evaluation.probes.far_pairs import LABEL  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return {result}


def get_inputs():
    return [torch.{draw}(256, 40, dtype=torch.{dtype}), torch.{draw}(256, 40, dtype=torch.{dtype})]
"""
Prepared = Callable[..., Setting]
Kernel = Callable[[Any, Any], Any]
verdicts = partial(probed.verdicts, label=LABEL, seeds=4)


def by_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    squares = (a * a).sum(-1, keepdim=True) - 2 * a @ b.mT + (b * b).sum(-1)
    return squares.clamp(min=0).sqrt().float()


@pytest.mark.parametrize(
    ("result", "draw", "right"),
    [
        ("torch.log1p((a - b).abs()).float()", "randn", lambda a, b: torch.log(1 + (a - b).float().abs())),
        ("(a - b).square().mean(-1).float()", "rand", lambda a, b: (a - b).float().square().mean(-1)),
        ("(a > b).float()", "randn", lambda a, b: ((a - b) > 0).float()),
        ("torch.cdist(a, b, compute_mode='donot_use_mm_for_euclid_dist').float()", "randn", by_products),
        ("(a - b).tanh().bfloat16()", "randn", lambda a, b: (a - b).float().tanh().bfloat16()),
    ],
)
def test_right_kernels_pass_and_early_rounding_does_not(
    prepared: Prepared, result: str, draw: str, right: Kernel
) -> None:
    setting = prepared(SOURCE.format(result=result, draw=draw, dtype="float64"))
    found = verdicts(setting, right)
    assert found
    assert all(found)
    short = torch.bfloat16 if "bfloat16" in result else torch.float32
    assert not any(verdicts(setting, lambda a, b: right(a.to(short).double(), b.to(short).double())))


@pytest.mark.parametrize(
    ("result", "dtype"),
    [
        ("(a + b).float()", "float64"),
        ("(a.cos() * b.sin()).float()", "float64"),
        ("a - b", "float64"),
        ("a - b", "float32"),
    ],
)
def test_nothing_is_asked_of_what_moves_or_is_not_narrower(prepared: Prepared, result: str, dtype: str) -> None:
    assert not verdicts(prepared(SOURCE.format(result=result, draw="randn", dtype=dtype)), lambda a, b: a)
