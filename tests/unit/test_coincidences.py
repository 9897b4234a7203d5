"""Integers that chance hardly ever brings together are put together, where the order of equal ones decides nothing."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.another_order import order_decides  # noqa: E402
from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.comparison import compare  # noqa: E402
from kernwright.evaluation.positions import with_positions  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.spending import Spending  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, a, b, w):
        return {result}


def get_inputs():
    return [{a}, {b}, torch.randn(500)]
"""
WIDE, PLACES = "torch.randint(0, 1 << 40, (500,))", "torch.randperm(1 << 20)[:500]"
USUAL = "torch.randint(0, 9, (500,))"
"""Of which draws show everything."""
Made = Callable[..., Setting]
TWICE, OTHER = "integers that come twice", "integers of another input"


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, a: str = WIDE, b: str = WIDE) -> Setting:
        return prepared(SOURCE.format(result=result, a=a, b=b))

    return make


def labels(setting: Setting) -> set[str]:
    return {case.label for seed in range(3) for case in cases(setting, random.Random(seed), Spending(60.0))}


def failed(setting: Setting, kernel: Callable[..., object]) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""
    made = [case for seed in range(3) for case in cases(setting, random.Random(seed), Spending(60.0))]
    problem, rng = setting.reference.problem, random.Random(9)
    return {
        case.label
        for case in made
        if not compare(with_positions([kernel(*case.values)], case, setting, rng), case, problem).passed
    }


@pytest.mark.parametrize(
    ("result", "kernel", "shown"),
    [
        pytest.param("torch.where(a == b, -w, w)", lambda a, b, w: w, OTHER, id="never equal"),
        pytest.param(
            "torch.where((a[:, None] == b).any(1), -w, w)", lambda a, b, w: w, OTHER, id="never one of the others"
        ),
        pytest.param("a.unique().sum() + w", lambda a, b, w: a.sum() + w, TWICE, id="never twice"),
        pytest.param("torch.where(a == 0, -w, w)", lambda a, b, w: w, "integers 0", id="never nought"),
        pytest.param("torch.where(a < 9, -w, w)", lambda a, b, w: w, "integers 8", id="never small"),
        pytest.param(
            "torch.where(torch.isin(a, torch.tensor([7, 77])), -w, w)", lambda a, b, w: w, "integers 77", id="never one"
        ),
    ],
)
def test_what_chance_never_drew_shows(setting_of: Made, result: str, kernel: Callable[..., object], shown: str) -> None:
    assert any(label.endswith(shown) for label in failed(setting_of(result), kernel))


@pytest.mark.parametrize(
    ("result", "a", "kernel"),
    [
        pytest.param(
            "torch.zeros(1 << 20).index_put((a,), w)",
            PLACES,
            lambda a, b, w: torch.zeros(1 << 20).index_put((a.flip(0),), w.flip(0)),
            id="written to places of their own",
        ),
        pytest.param("a.argsort()", WIDE, lambda a, b, w: 499 - a.flip(0).argsort(stable=True), id="put into order"),
    ],
)
def test_where_the_order_of_equal_ones_decides_nobody_is_asked(
    setting_of: Made, result: str, a: str, kernel: Callable[..., object]
) -> None:
    setting = setting_of(result, a, USUAL)
    assert failed(setting, kernel) == set()
    assert TWICE not in labels(setting)


def test_what_draws_settle_stays_so(setting_of: Made) -> None:
    """Numbers of which none came twice where chance had to bring some, and two inputs that never met."""
    order = setting_of("a + b + w", "torch.randperm(800)[:500]")
    assert all(len(case.values[0].unique()) == 500 for case in cases(order, random.Random(0), Spending(60.0)))
    apart = setting_of("a + b + w", "2 * torch.randint(0, 900, (500,))", "2 * torch.randint(0, 900, (500,)) + 1")
    assert not any(OTHER in label for label in labels(apart))


def test_integers_that_are_no_places_are_not_put_in(setting_of: Made) -> None:
    table = setting_of(
        "torch.arange(500)[a % 500] + torch.where(a == 99999, -w, w)", "torch.randint(0, 9999, (500,))", USUAL
    )
    assert not any("integers 99999" in label for label in labels(table))
    late = setting_of("torch.where(a == 3, -w, w)", "torch.randint(90, 120, (500,))", USUAL)
    assert not any("integers 3" in label for label in labels(late))


@pytest.mark.parametrize(
    ("result", "decides"),
    [
        ("torch.where(a == b, -w, w)", False),
        ("(a * w).sum()", False),
        ("torch.bincount(a % 7)", False),
        ("w.cumsum(0) * a", True),
        ("a.argsort()", True),
    ],
)
def test_it_is_found_out_whether_an_order_decides(setting_of: Made, result: str, decides: bool) -> None:
    setting = setting_of(result)
    assert order_decides(setting, setting.bases[0], 0, random.Random(0)) is decides


@pytest.mark.parametrize(
    ("result", "compared"),
    [
        pytest.param("torch.bincount(a, minlength=90)", True, id="counts"),
        pytest.param("(a[:, None] > a).sum(1)", True, id="how many are smaller"),
        pytest.param("a.unique().numel() + 0 * a", True, id="how many there are"),
        pytest.param("a.argmax() + 0 * a", False, id="where the largest is"),
        pytest.param("a.argsort()", False, id="an order"),
        pytest.param("a.argsort().argsort()", False, id="places in an order"),
    ],
)
def test_counts_are_told_from_positions(setting_of: Made, result: str, compared: bool) -> None:
    setting = setting_of(result, "torch.randint(0, 90, (500,))")
    case = setting.bases[0]
    other = [own + 1 for own in case.native]
    got = with_positions(other, case, setting, random.Random(0))
    assert torch.equal(got[0], (other if compared else case.native)[0])
