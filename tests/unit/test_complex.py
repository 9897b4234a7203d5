"""Complex inputs are probed as floating ones are, and the oracle is as much wider."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.extremes import cases as extremes  # noqa: E402
from kernwright.evaluation.drawing.regularity import kept, regularities  # noqa: E402
from kernwright.evaluation.numbers import by_parts, is_number, widened  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, scaled  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = torch.nn.Parameter(torch.randn(30, dtype=torch.complex64))

    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.randn(20, 30, dtype=torch.complex64)]
"""


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[[str], Setting]:
    def make(result: str) -> Setting:
        return prepared(SOURCE.format(result=result))

    return make


def test_the_oracle_is_wider_and_nearer_the_truth(setting_of: Callable[[str], Setting]) -> None:
    setting = setting_of("x * self.turn")
    case = setting.bases[0]
    assert case.oracle[0].dtype == torch.complex128
    assert setting.double is not None
    assert next(setting.double.parameters()).dtype == torch.complex128
    assert 0 < float((case.native[0] - case.oracle[0]).abs().max()) < 1e-5


def test_probes_reach_complex_inputs(setting_of: Callable[[str], Setting]) -> None:
    setting = setting_of("x * self.turn")
    wrong, turn = set(), setting.state["turn"]
    for probe in probes(setting, random.Random(2)):
        assert probe.compare([probe.case.values[0] * turn]).passed
        limited = probe.case.values[0] * turn
        if not probe.compare([torch.view_as_complex(torch.view_as_real(limited).clamp(-60, 60))]).passed:
            wrong.add(probe.case.label)
    assert {"all negative", "all positive", "outliers"} <= wrong
    assert any(extremes(setting, random.Random(2)))
    other = scaled(setting, random.Random(3))
    assert other is not None
    assert not torch.equal(other.values[0].abs(), setting.bases[0].values[0].abs())
    mixed = setting.recombined(random.Random(4))[0]
    assert not any(torch.equal(mixed, base.values[0]) for base in setting.bases)


def test_selections_by_size_are_probed(setting_of: Callable[[str], Setting]) -> None:
    setting = setting_of("x.real.amax(1) + 0 * self.turn.real.sum()")
    labels = {probe.case.label for probe in probes(setting, random.Random(2))}
    assert {"ties", "tiny"} <= labels


def test_a_hermitian_matrix_stays_one() -> None:
    draws = []
    for seed in range(3):
        half = torch.randn(6, 6, dtype=torch.complex64, generator=torch.Generator().manual_seed(seed))
        draws.append([half + half.mH])
    known = regularities(draws)
    assert known[0].described() == "it is Hermitian in every draw"
    assert not known[0].allows((1, 3))
    (value,) = kept([torch.randn(6, 6, dtype=torch.complex64)], known)
    assert torch.equal(value, value.mH)


def test_parts_change_each_by_itself() -> None:
    value = torch.tensor([1 + 2j, -3 - 4j])
    assert torch.equal(by_parts(torch.abs, value), torch.tensor([1 + 2j, 3 + 4j]))
    assert torch.equal(by_parts(torch.abs, value.real.contiguous()), torch.tensor([1.0, 3.0]))


def test_only_floating_and_complex_tensors_are_numbers() -> None:
    assert is_number(torch.zeros(1))
    assert is_number(torch.zeros(1, dtype=torch.complex64))
    assert not any(map(is_number, (torch.zeros(0), torch.zeros(1, dtype=torch.int32), 3.0, None)))
    assert widened("text") == "text"
    assert widened(torch.zeros(1, dtype=torch.int32)).dtype == torch.int32
    assert widened(torch.zeros(1, dtype=torch.float16)).dtype == torch.float64
