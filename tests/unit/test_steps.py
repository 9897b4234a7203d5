"""Integers beside a step of the result are found wherever it lies."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.coincidences import coincidences  # noqa: E402
from kernwright.evaluation.probes.steps import LABEL  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

ROOTS = """
import torch


class Model(torch.nn.Module):
    def forward(self, n):
        root = torch.zeros_like(n)
        for bit in range(12, -1, -1):
            more = root + (1 << bit)
            root = torch.where(more * more * more <= n, more, root)
        return root


def get_inputs():
    return [torch.randint(0, 1 << 38, (4096,))]
"""
WEEKS = "(x + 3) // 604800"


def beside(setting: Setting) -> list[tuple[torch.Tensor, list[torch.Tensor]]]:
    base = setting.bases[0]
    ways = coincidences(setting, base, [each.values for each in setting.bases], random.Random(1))
    made = [make() for label, make in ways if label == LABEL]
    return [(values[0], setting.case(values, LABEL, 0).native) for values in made]


@pytest.mark.parametrize(
    ("result", "most", "nearly"),
    [
        (ROOTS, 1 << 38, lambda x: (x.double() ** (1 / 3) + 1e-8).long()),
        (WEEKS, 1 << 31, lambda x: (x + 2) // 604800),
        ("(x > -5).int()", "all", lambda x: (x >= 0).int()),
        ("(x >= 123456789).int()", 1 << 30, lambda x: (x > 123456789).int()),
    ],
)
def test_who_is_wrong_beside_a_step_alone_is_found(
    prepared: Callable[..., Setting], result: str, most: int | str, nearly: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    least, most = (-(1 << 63), (1 << 63) - 1) if most == "all" else (0, int(most))
    source = one_line("x", f"torch.randint({least}, {most}, (4096,))").format(result=result)
    setting = prepared(ROOTS if result == ROOTS else source)
    for each in setting.bases:  # where chance tells nothing
        assert torch.equal(nearly(each.values[0]), each.native[0])
    [(values, native)] = beside(setting)
    assert values.min() >= least
    assert values.max() < most
    assert not torch.equal(nearly(values), native[0])


def test_nothing_is_looked_for_where_results_hang_on_other_places(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", "torch.randint(0, 1 << 30, (4096,))").format(result="x - x.roll(1)"))
    [(values, _)] = beside(setting)
    assert torch.equal(values, setting.bases[0].values[0])


@pytest.mark.parametrize("result", ["x.float()", "x.sum(0)", "(x % 2)[:5]", "(x / 7).long()"])
def test_integers_of_one_place_each_are_asked_where_no_float_is(prepared: Callable[..., Setting], result: str) -> None:
    assert beside(prepared(one_line("x", "torch.randint(0, 1 << 30, (4096,))").format(result=result))) == []
