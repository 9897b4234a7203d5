"""Whole places that come twice ask for what is made of equal integers where a reference leaves a choice among them."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import cases, compared  # noqa: E402
from kernwright.evaluation.probes.jointly import JOINTLY, is_joint  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, ids, x):
        {body}


def get_inputs():
    return [torch.randint(0, 1 << 40, (8, 64)), {x}]
"""
DEDUPED = """\
order = ids.argsort(-1)
        ordered = ids.gather(-1, order)
        again = torch.nn.functional.pad(ordered[:, 1:] == ordered[:, :-1], (1, 0))
        return x.gather(-1, order).masked_fill(again, 0.0).sum(-1)"""
PLACED = "return torch.zeros_like(ids, dtype=torch.bool).scatter(-1, ids.topk(20, -1).indices, True)"
CARRIED = "return x.gather(-1, ids.topk(20, -1).indices)"
LARGEST = "return torch.zeros_like(ids, dtype=torch.bool).scatter(-1, x.topk(20, -1).indices, True) & (ids > 1 << 39)"
NORMAL, RISING = "torch.randn(8, 64)", "torch.rand(8, 64).cumsum(-1)"
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def refused(setting: Setting, kernel: Kernel) -> tuple[set[str], set[str]]:
    """Labels of all cases, and of those in which this kernel is wrong."""

    made = [case for seed in range(6) for case in cases(setting, random.Random(seed), Spending(60.0))]
    wrong = [case.label for case in made if not compared(setting, case, [kernel(*case.values)]).passed]
    return {case.label.split(" along")[0] for case in made}, {label.split(" along")[0] for label in wrong}


def _last_first(ids: torch.Tensor, k: int) -> torch.Tensor:
    return ids.shape[-1] - 1 - ids.flip(-1).sort(dim=-1, descending=True, stable=True).indices[..., :k]


def _deduped_otherwise(ids: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    again = (ids[:, :, None] == ids[:, None, :]).triu(1).any(-1)  # the last of equal ones counts
    return x.masked_fill(again, 0.0).sum(-1)


def test_who_takes_no_number_to_come_twice_is_found(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(body=DEDUPED, x=NORMAL))
    labels, wrong = refused(setting, _deduped_otherwise)
    assert JOINTLY in labels
    assert not wrong
    assert refused(setting, lambda ids, x: x.sum(-1))[1] == {JOINTLY}


@pytest.mark.parametrize(
    ("body", "kernel"),
    [
        pytest.param(
            PLACED,
            lambda ids, x: torch.zeros_like(ids, dtype=torch.bool).scatter(-1, _last_first(ids, 20), True),
            id="places of the largest",
        ),
        pytest.param(CARRIED, lambda ids, x: x.gather(-1, _last_first(ids, 20)), id="what stands there"),
        pytest.param(
            LARGEST,
            lambda ids, x: (
                torch.zeros_like(ids, dtype=torch.bool).scatter(-1, _last_first(x, 20), True) & (ids > 1 << 39)
            ),
            id="by the floats",
        ),
    ],
)
def test_which_of_equal_places_is_taken_is_a_choice(
    prepared: Callable[..., Setting], body: str, kernel: Kernel
) -> None:
    assert refused(prepared(SOURCE.format(body=body, x=NORMAL)), kernel)[1] == set()


def test_one_draw_is_enough_to_find_who_takes_none_to_come_twice(prepared: Callable[..., Setting]) -> None:
    """Numbers could come twice along either axis, and which of them are one is chosen along the last."""
    setting = prepared(SOURCE.format(body=DEDUPED, x=NORMAL))
    for seed in range(8):
        made = [case.label for case in cases(setting, random.Random(seed), Spending(60.0)) if is_joint(case)]
        assert {label.split(" of ")[0] for label in made} == {f"{JOINTLY} along axis {axis}" for axis in (0, 1)}


def test_what_hangs_together_does_not_come_twice(prepared: Callable[..., Setting]) -> None:
    assert JOINTLY not in refused(prepared(SOURCE.format(body=DEDUPED, x=RISING)), _deduped_otherwise)[0]
