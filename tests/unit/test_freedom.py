"""Integers are rearranged as far as their draws show no order, and what was counted on to be drawn shows."""

import random
from collections.abc import Callable, Collection

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import cases, compared  # noqa: E402
from kernwright.evaluation.drawing.freedom import Freedom, alike, freedoms, freedoms_with_marks  # noqa: E402
from kernwright.evaluation.drawing.provenance import Provenance  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

SOURCE = one_line("x", "{drawn}")


def found(make: Callable[[], object], count: int = 3) -> dict[int, Freedom]:
    torch.manual_seed(11)
    drawn = [make() for _ in range(count)]
    return freedoms([list(values) if isinstance(values, tuple) else [values] for values in drawn])


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: torch.randint(0, 99, (33,)).sort().values, id="offsets"),
        pytest.param(lambda: torch.arange(40), id="always the same"),
        pytest.param(lambda: torch.randint(0, 50, (30,)).repeat_interleave(10), id="grouped"),
        pytest.param(
            lambda: torch.cat([torch.randperm(100)[:7].sort().values for _ in range(50)]), id="sorted in pieces"
        ),
        pytest.param(
            lambda: torch.stack([torch.randint(0, 50, (300,)).sort().values, torch.randint(0, 50, (300,))]),
            id="one of two rows sorted",
        ),
        pytest.param(
            lambda: (torch.rand(8, 8) > 0.5).repeat_interleave(16, 0).repeat_interleave(16, 1), id="a mask of blocks"
        ),
        pytest.param(
            lambda: tuple(torch.stack([torch.randint(0, 99, (50,)) for _ in range(2)]).sort(0).values),
            id="starts and ends",
        ),
        pytest.param(lambda: (order := torch.randperm(60), order.argsort()), id="an order and its inverse"),
        pytest.param(lambda: torch.randint(0, 9, (2,)), id="too few to tell"),
        pytest.param(lambda: torch.randn(30), id="no integers"),
        pytest.param(lambda: 3, id="no tensor"),
    ],
)
def test_what_has_an_order_is_left_alone(make: Callable[[], object]) -> None:
    assert found(make) == {}


def test_one_draw_tells_nothing() -> None:
    assert found(lambda: torch.randint(0, 10, (64, 64)), count=1) == {}


def test_numbers_that_hang_together_only_change_places() -> None:
    permutation = found(lambda: torch.randperm(500))[0]
    assert permutation.complete
    assert not permutation.exchange
    lengths = found(lambda: torch.bincount(torch.randint(0, 12, (100,)), minlength=12))[0]
    assert (lengths.exchange, lengths.loose, lengths.lines) == (False, False, (0,))
    one_hot = found(lambda: torch.nn.functional.one_hot(torch.randint(0, 16, (64,)), 16))[0]
    assert (one_hot.exchange, one_hot.lines) == (False, (1,))
    columns = found(lambda: torch.argsort(torch.rand(64, 32), 0))[0]
    assert (columns.exchange, columns.lines) == (False, (0,))


def test_columns_of_several_kinds_do_not_mix() -> None:
    coordinates = found(lambda: torch.stack([torch.randint(0, n, (500,)) for n in (4, 640, 480)], 1))[0]
    assert coordinates.axes == (0,)
    assert coordinates.exchange
    assert not coordinates.loose


@pytest.mark.parametrize("kind", ["int32", "uint8", "bool"])
def test_rearranged_values_are_the_same_values(kind: str) -> None:
    dtype = getattr(torch, kind)
    freedom = found(lambda: torch.randint(0, 2, (64, 48)).to(dtype))[0]
    value = torch.randint(0, 2, (64, 48)).to(dtype)
    other, ordered = (
        freedom.shuffled(value, random.Random(1)),
        freedom.by_size(value, random.Random(1), 1, largest_last=True),
    )
    assert (other.dtype, ordered.dtype) == (dtype, dtype)
    assert int(other.sum()) == int(value.sum())
    assert not torch.equal(other, value)
    assert torch.equal(ordered.sum(1), value.sum(1))
    assert int(ordered[:, :12].sum()) < int(ordered[:, -12:].sum()) // 4


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[[str, str], Setting]:
    def make(result: str, drawn: str) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn))

    return make


def failed(setting: Setting, kernel: Callable[..., object], seeds: Collection[int] = (2,)) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""
    made = [case for seed in seeds for case in cases(setting, random.Random(seed), Spending())]
    assert made
    problem = setting.reference.problem
    return {case.label for case in made if not compare([kernel(*case.values)], case, problem).passed}


def test_partial_work_on_integers_shows(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x.argmax(1)", "torch.randint(0, 10, (9, 3000), dtype=torch.int32)")
    assert failed(setting, lambda x: x.argmax(1)) == set()
    assert "the largest integers last" in failed(setting, lambda x: x[:, :300].argmax(1))


def test_thresholds_that_fit_even_integers_show(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x.topk(8).values", "torch.randint(0, 1 << 20, (20000,))")
    assert failed(setting, lambda x: x.topk(8).values) == set()
    above = lambda x: torch.cat([x[x > (1 << 20) * 0.995], x.new_zeros(8)]).topk(8).values  # noqa: E731
    assert "smaller integers" in failed(setting, above)


def test_a_mask_of_fewer_shows(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x.sum(1)", "torch.rand(40, 200) > 0.5")
    assert failed(setting, lambda x: x.sum(1)) == set()
    assert failed(setting, lambda x: x.sum(1).clamp(70, 130)) >= {"smaller integers", "larger integers"}


def test_what_the_reference_cannot_bear_is_not_asked(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("torch.log(28 - x.sum(1))", "torch.randint(0, 2, (40, 30))")
    made = list(cases(setting, random.Random(2), Spending()))
    assert "larger integers" not in {case.label for case in made}
    assert "rearranged" in {case.label for case in made}
    assert not any(
        bool(case.native[0].isnan().any()) for case in made
    )  # a logarithm of 0 is a number, if an infinite one


def _alike(make: Callable[[], tuple[object, ...]]) -> tuple[int, ...]:
    torch.manual_seed(11)
    draws = [list(make()) for _ in range(3)]
    with Provenance() as watch:
        origins = watch.of(make())
    return alike(draws, freedoms(draws, origins=origins), origins)


def test_all_elements_may_be_one_number_that_was_drawn() -> None:
    codes = lambda: (torch.randint(0, 9, (40, 5)), torch.rand(40, 5) < 0.5)  # noqa: E731
    assert _alike(codes) == (0, 1)
    assert _alike(lambda: (torch.randint(0, 8, (999,)).sort().values,)) == (0,)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: (torch.randint(0, 999, (33,)).sort().values,), id="offsets"),
        pytest.param(lambda: (torch.randperm(40),), id="an order"),
        pytest.param(
            lambda: (
                (group := torch.randint(0, 8, (999,)).sort().values),
                torch.bincount(group, minlength=9).cumsum(0),
            ),
            id="beside offsets",
        ),
        pytest.param(lambda: (torch.arange(40) // 8,), id="always the same"),
        pytest.param(
            lambda: ((1 + torch.bincount(torch.randint(0, 64, (64,)), minlength=64)).sort().values,), id="lengths"
        ),
    ],
)
def test_places_that_hang_together_are_not_made_alike(make: Callable[[], tuple[object, ...]]) -> None:
    assert _alike(make) == ()


@pytest.mark.parametrize(
    ("drawn", "result", "kernel"),
    [
        (
            "torch.randint(-128, 128, (2560,), dtype=torch.int8)",
            "(x.int() * x.int()).sum(dtype=torch.int32)",
            lambda x: (x.float() @ x.float()).int(),
        ),
        (
            "torch.rand(33, 70) < 0.5",
            "x.sum(-1) / x.sum().clamp(min=1)",
            lambda x: x.sum(-1) / x.sum(),
        ),
        (
            "torch.randint(0, 8, (999,)).sort().values",
            "torch.bincount(x, minlength=8)",
            lambda x: torch.bincount(x, minlength=8).clamp(max=500),
        ),
    ],
)
def test_what_holds_for_mixed_integers_alone_shows(
    setting_of: Callable[[str, str], Setting], drawn: str, result: str, kernel: Callable[..., object]
) -> None:
    """Sums that are exact as long as codes differ, masks that keep something, room for a share of all."""
    found = failed(setting_of(result, drawn), kernel, range(4))  # by chance a sum of others may be exact
    assert any(label.startswith("equal integers") for label in found)


def test_groups_stay_in_order(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("torch.bincount(x, minlength=8)", "torch.randint(0, 8, (999,)).sort().values")
    made = [case.values[0] for seed in range(4) for case in cases(setting, random.Random(seed), Spending())]
    assert any(len(value[1:-1].unique()) == 2 for value in made)
    assert all(bool((value[1:] >= value[:-1]).all()) for value in made)
    ends = {(int(case.values[0][0]), int(case.values[0][-1])) for case in setting.bases}
    assert {(int(value[0]), int(value[-1])) for value in made} <= ends


def test_which_of_equal_integers_is_named_is_a_choice(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x.topk(8).indices", "torch.randint(0, 1 << 20, (64, 128))")
    first = lambda x: x.sort(dim=-1, descending=True, stable=True).indices[:, :8]  # noqa: E731

    def verdicts(kernel: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, bool]:
        made = list(cases(setting, random.Random(0), Spending()))
        return {case.label: compared(setting, case, [kernel(*case.values)]).passed for case in made}

    assert all(verdicts(first).values())
    assert not verdicts(lambda x: first(x) + 1)["rearranged"]


KEPT = "(torch.rand(40, 64) < 0.3).float()"


@pytest.mark.parametrize(
    ("drawn", "free"),
    [
        pytest.param(f"{KEPT}, {KEPT}", {0, 1}, id="two masks"),
        pytest.param(f"{KEPT}, torch.randint(0, 9, (40, 64))", {0, 1}, id="a mask beside integers"),
        pytest.param(f"{KEPT}, torch.rand(40, 64).round().cumsum(1) * 0 + torch.eye(40, 64)", {0}, id="beside another"),
        pytest.param(f"(m := {KEPT}), 1 - m", set(), id="a mask and the rest"),
        pytest.param(f"{KEPT}.sort(1).values, {KEPT}", {1}, id="one in order"),
    ],
)
def test_marks_that_were_drawn_each_on_their_own_are_free(drawn: str, free: set[int]) -> None:
    def make() -> tuple[torch.Tensor, ...]:
        return eval(drawn)  # type: ignore[no-any-return]

    torch.manual_seed(11)
    draws = [list(make()) for _ in range(3)]
    with Provenance() as watch:
        origins = watch.of(make())
    marks = {n for n, value in enumerate(draws[0]) if value.is_floating_point()}
    assert set(freedoms_with_marks(draws, marks, (), origins)) == free


def test_two_masks_may_both_be_empty(prepared: Callable[..., Setting]) -> None:
    source = SOURCE.replace("self, x", "self, x, other").format(
        result="x.sum(1) / other.sum(1).clamp(min=1)", drawn=f"{KEPT}, {KEPT}"
    )
    setting = prepared(source)
    assert failed(setting, lambda x, other: x.sum(1) / other.sum(1).clamp(min=1)) == set()
    assert failed(setting, lambda x, other: x.sum(1) / other.sum(1))
