"""Shares of which some are 0: a result has to be a number where the reference's is one."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.probe import in_time  # noqa: E402
from kernwright.evaluation.probes.simplexes import LABEL, simplex_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, p):
        return {result}


def get_inputs():
    return [torch.randn({shape}), {shares}]
"""
KL = "torch.nn.functional.kl_div(torch.log_softmax(x, -1), p, reduction='none').sum(-1)"
SHAPE = "96, 32"
SHARES = "torch.softmax(torch.randn({shape}), -1)"
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def setting_of(prepared: Callable[..., Setting], result: str, shares: str = SHARES) -> Setting:
    return prepared(SOURCE.format(result=result, shape=SHAPE, shares=shares.format(shape=SHAPE)))


def verdicts(setting: Setting, kernel: Kernel) -> list[bool]:
    """For each such probe, whether the kernel is right."""
    found = []
    for seed in range(4):
        for probe in in_time(setting, simplex_ways(setting, setting.bases[0], random.Random(seed))):
            assert probe.case.label == LABEL
            assert bool((probe.case.values[1] == 0).any())
            assert torch.allclose(probe.case.values[1].sum(-1), torch.ones(()))
            found.append(probe.compare([kernel(*probe.case.values)]).passed)
    return found


def with_looks(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return (torch.xlogy(p, p) - p * x).sum(-1) + torch.logsumexp(x, -1)


def without_looks(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return (p * (p.log() - x)).sum(-1) + torch.logsumexp(x, -1) * p.sum(-1)


def test_a_logarithm_of_no_share_is_asked_for(prepared: Callable[..., Setting]) -> None:
    setting = setting_of(prepared, KL)
    assert verdicts(setting, with_looks) == [True] * 4
    assert verdicts(setting, without_looks) == [False] * 4


@pytest.mark.parametrize("result", ["(p * (p.log() - x)).sum(-1)", "x / p"])
def test_nothing_is_asked_where_the_reference_has_no_number(prepared: Callable[..., Setting], result: str) -> None:
    assert verdicts(setting_of(prepared, result), without_looks) == []


def test_smoothed_labels_stay_smoothed(prepared: Callable[..., Setting]) -> None:
    shares = "0.9 * torch.eye(32)[torch.randint(32, (96,))] + 0.1 / 32"
    assert verdicts(setting_of(prepared, KL, shares=shares), with_looks) == []


@pytest.mark.parametrize("shares", ["torch.rand({shape})", "torch.softmax(torch.randn({shape}), -1) * 2"])
def test_what_does_not_sum_to_1_stays_as_it_is(prepared: Callable[..., Setting], shares: str) -> None:
    assert verdicts(setting_of(prepared, "(x * p).sum(-1)", shares=shares), lambda x, p: (x * p).sum(-1)) == []
