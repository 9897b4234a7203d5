"""Integers that leave a row empty: what the reference makes of it is asked for, infinities too, if it is a number."""

import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import Integers, cases, compared  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

SOURCE = one_line("x, mask", "torch.randn(16, 128), torch.rand(16, 128) < 0.3")
LARGEST = "x.masked_fill(~mask, float('-inf')).amax(1)"


def refused(setting: Setting, kernel: Callable[..., object]) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""

    made = list(cases(setting, random.Random(0), Spending(60.0)))
    return {case.label for case in made if not compared(setting, case, [kernel(*case.values)]).passed}


def test_what_stands_for_an_empty_row_is_asked(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(result=LARGEST))
    largest = lambda x, mask: x.masked_fill(~mask, float("-inf")).amax(1)  # noqa: E731
    assert refused(setting, largest) == set()
    assert refused(setting, lambda x, mask: torch.where(mask.any(1), largest(x, mask), 0.0))
    assert refused(setting, lambda x, mask: x.masked_fill(~mask, -1e30).amax(1))


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param(
            "(x * mask).sum(1) / mask.sum(1)",
            lambda x, mask: (x * mask).sum(1) / mask.sum(1).clamp(min=1),
            id="of no number",
        ),
        pytest.param(
            "torch.stack([torch.sqrt(mask.sum(1) - 1.0), 1 / mask.sum(1)])",
            lambda x, mask: torch.stack([(mask.sum(1) - 1.0).clamp(min=0).sqrt(), 1 / mask.sum(1)]),
            id="beside such a result",
        ),
    ],
)
def test_what_is_no_number_is_not_asked(
    prepared: Callable[..., Setting], result: str, kernel: Callable[..., object]
) -> None:
    assert refused(prepared(SOURCE.format(result=result)), kernel) == set()


@pytest.mark.parametrize(
    ("result", "is_told"),
    [
        pytest.param("torch.stack([(x > 99).sum(1), (mask.sum(1) > 999).long()])", True, id="never"),
        pytest.param("(mask.sum(1) > 100).long()", False, id="where all are kept"),
        pytest.param("x.sum(1)", False, id="numbers"),
    ],
)
def test_a_result_that_nothing_moves_is_told(prepared: Callable[..., Setting], result: str, is_told: bool) -> None:
    setting = prepared(SOURCE.format(result=result))
    judge = lambda outputs, case, rule=None: compare(outputs, case, setting.reference.problem)  # noqa: E731
    run = lambda case: case.native  # noqa: E731
    trial = SimpleNamespace(give_way=lambda: None, run_case=run, setting=setting, rng=random.Random(3), judge=judge)
    assert Integers().verify(trial).passed  # type: ignore[arg-type]
    assert any("computes nothing of it" in note for note in setting.reference.notes) is is_told
