"""Outputs that are the same in every draw, or empty, keep no values from being tried."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.arrangements import arrangement_ways  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.randn(64, 48)]
"""
WAYS = {
    "a loss that is 0": "torch.zeros(5)",
    "integers": "torch.full((7,), 3)",
    "marks": "x.flatten()[:9].isfinite()",
    "nothing": "x[:0]",
}


@pytest.mark.parametrize("beside", WAYS.values(), ids=WAYS)
def test_nearly_as_many_cases_are_made_beside_them(prepared: Callable[..., Setting], beside: str) -> None:
    alone, accompanied = (
        prepared(SOURCE.format(result=result)) for result in ("x.cumsum(1),", f"(x.cumsum(1), {beside})")
    )
    assert alone.still == frozenset()
    assert accompanied.still == {1}
    assert len(_labels(accompanied)) > 0.7 * len(_labels(alone)) > 10


def test_marks_that_are_all_alike_keep_nothing_from_being_asked(prepared: Callable[..., Setting]) -> None:
    alone, beside = (prepared(SOURCE.format(result=result)) for result in ("x.cumsum(1),", "(x.cumsum(1), x > 0)"))
    assert beside.still == frozenset()
    assert {"all positive", "all negative"} <= {*_labels(alone)}
    assert {"all positive", "all negative"} <= {*_labels(beside)}


def _labels(setting: Setting) -> list[str]:
    rng = random.Random(5)
    made = [probe.case.label for probe in probes(setting, rng)]
    for way in arrangement_ways(setting, setting.bases[0], random.Random(6)):
        probe = way()
        made += [probe.case.label] if probe is not None else []
    return sorted(made)
