"""Missing and infinite numbers are asked for where the reference handles them on purpose, and nowhere else."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "torch.nan_to_num(torch.randn(64, 96)), {second}")
Made = Callable[..., Setting]
MISSING = {"missing numbers", "few missing numbers", "missing numbers in a row"}
INFINITE = {"infinite numbers", "few infinite numbers", "infinite numbers in a row"}


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, second: str = "torch.randn(96)") -> Setting:
        return prepared(SOURCE.format(result=result, second=second))

    return make


def failed(setting: Setting, kernel: Callable[..., object]) -> tuple[set[str], set[str]]:
    """Labels of these cases, and of those in which this kernel is wrong."""
    seen, wrong = set(), set()
    for probe in probes(setting, random.Random(2)):
        if probe.case.label in MISSING | INFINITE:
            seen.add(probe.case.label)
            if not probe.compare([kernel(*probe.case.values)]).passed:
                wrong.add(probe.case.label)
    return seen, wrong


def test_a_mean_of_what_is_there_leaves_out_what_is_missing(setting_of: Made) -> None:
    setting = setting_of("torch.nanmean(x, 1) + y.sum()")
    assert failed(setting, lambda x, y: (x.nansum(1) / (x == x).sum(1)) + y.sum()) == (MISSING, set())
    assert failed(setting, lambda x, y: x.mean(1) + y.sum()) == (MISSING, MISSING)
    assert "missing numbers" in failed(setting, lambda x, y: x.nan_to_num().mean(1) + y.sum())[1]
    by_sample = lambda x, y: (x.nanmean(1) if x[:, ::32].isnan().any() else x.mean(1)) + y.sum()  # noqa: E731
    found = failed(setting, by_sample)[1]  # those in a row, down a column say, may miss the sample too
    assert "few missing numbers" in found
    assert "missing numbers" not in found


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        (
            "x.nansum(1) / (~x.isnan()).sum(1).clamp(min=1)",
            lambda x, y: torch.where(x != x, 0, x).sum(1) / (x == x).sum(1),
        ),
        (
            "torch.where(x.isnan(), 0, x).unfold(1, 8, 1).sum(-1) / (~x.isnan()).unfold(1, 8, 1).sum(-1).clamp(min=1)",
            lambda x, y: x.nan_to_num().unfold(1, 8, 1).sum(-1) / (x == x).unfold(1, 8, 1).sum(-1),
        ),
    ],
    ids=["a row of which all is missing", "a window of which all is"],
)
def test_whole_lines_and_long_stretches_are_missing(
    setting_of: Made, result: str, kernel: Callable[..., object]
) -> None:
    """Lines along either axis come in turn, whichever is first."""
    setting = setting_of(result + " + 0 * y.sum()")
    assert failed(setting, kernel)[1] | failed(setting, kernel)[1] == {"missing numbers in a row"}


def test_infinities_are_asked_for_where_they_are_told_from_numbers(setting_of: Made) -> None:
    setting = setting_of("torch.nan_to_num(x, 0.0, 3.0, -3.0).tanh() * y")
    assert failed(setting, lambda x, y: x.nan_to_num(0.0, 3.0, -3.0).tanh() * y) == (MISSING | INFINITE, set())
    assert failed(setting, lambda x, y: torch.where(x == x, x, 0).tanh() * y)[1] == INFINITE
    assert failed(setting, lambda x, y: x.clamp(-3, 3).tanh() * y)[1] >= MISSING


def test_a_number_that_is_unequal_to_itself_is_missing(setting_of: Made) -> None:
    setting = setting_of("torch.where(x != x, torch.zeros_like(x), x) * y")
    assert failed(setting, lambda x, y: x * y) == (MISSING, MISSING)


def test_integers_tell_what_is_missing(setting_of: Made) -> None:
    setting = setting_of("torch.isnan(x).sum(1)")
    assert failed(setting, lambda x, y: torch.isnan(x).sum(1)) == (MISSING, set())
    assert failed(setting, lambda x, y: torch.zeros(64, dtype=torch.int64)) == (MISSING, MISSING)


def test_what_is_not_finite_in_the_result_is_not_compared(setting_of: Made) -> None:
    """A repaired infinity is as large as a type allows, another number in a wider one, and its row's sum is none."""
    setting = setting_of("torch.nan_to_num(x) * y")
    seen, wrong = failed(setting, lambda x, y: torch.where(x.isfinite(), x, torch.where(x.isinf(), 7.0, 0.0)) * y)
    assert seen == MISSING | INFINITE
    assert wrong == set()


@pytest.mark.parametrize(
    "result",
    [
        pytest.param("x * y", id="draws alone"),
        pytest.param("torch.nan_to_num(torch.softmax(x, 1)) * y", id="spread"),
        pytest.param("torch.nan_to_num(y) * x.nansum() if y.sum() > 1e9 else x * y", id="never comes to it"),
        pytest.param("x.masked_fill(x > 1, torch.nan).abs().nan_to_num() * y if x.numel() < 9 else x", id="constant"),
    ],
)
def test_nobody_owes_anything_about_nan_where_the_reference_owes_nothing(setting_of: Made, result: str) -> None:
    assert failed(setting_of(result), lambda x, y: x)[0] == set()


def test_of_several_inputs_only_those_that_are_handled_have_any(setting_of: Made) -> None:
    setting = setting_of("torch.nansum(x * 2, 1) + y.sum()", "torch.randn(64, 96)")
    for probe in probes(setting, random.Random(2)):
        if probe.case.label in MISSING:
            assert bool(probe.case.values[0].isnan().any())
            assert not bool(probe.case.values[1].isnan().any())
