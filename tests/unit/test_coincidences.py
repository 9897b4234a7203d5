"""Integers that chance hardly ever brings together are put together, where the order of equal ones decides nothing."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.errors.another_order import followed_by  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.positions import with_positions  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

SOURCE = one_line("a, b, w", "{a}, {b}, torch.randn(500)")
WIDE, PLACES = "torch.randint(0, 1 << 40, (500,))", "torch.randperm(1 << 20)[:500]"
ALONE = one_line("x", "{inputs}")
USUAL = "torch.randint(0, 9, (500,))"
"""Of which draws show everything."""
Made = Callable[..., Setting]
TWICE, OTHER, LEAST = "integers that come twice", "integers of another input", "the least integers"
POWERS = "integers beside powers"


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, a: str = WIDE, b: str = WIDE) -> Setting:
        return prepared(SOURCE.format(result=result, a=a, b=b))

    return make


def failed(setting: Setting, kernel: Callable[..., object]) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""
    made = [case for seed in range(6) for case in cases(setting, random.Random(seed), Spending(60.0))]
    problem = setting.reference.problem
    return {
        case.label
        for case in made
        if not compare(with_positions([kernel(*case.values)], case, setting), case, problem).passed
    }


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        pytest.param("torch.where(a == b, -w, w)", OTHER, id="equal"),
        pytest.param("torch.where((a[:, None] == b).any(1), -w, w)", OTHER, id="one of the others"),
        pytest.param("a.unique().numel() + w", TWICE, id="twice"),
        pytest.param("torch.where(a == 777, -w, w)", "integers 777", id="a number"),
        pytest.param("torch.where(a == 777.0, -w, w)", "integers 777", id="a number with a point"),
        pytest.param("torch.where(a < 999, -w, w)", "integers 998", id="a number below"),
        pytest.param("torch.where(torch.isin(a, torch.tensor([7, 777])), -w, w)", "integers 777", id="one of some"),
        pytest.param("torch.where(a % 97_000_000 == 0, -w, w)", "many multiples of 97000000", id="a multiple"),
        pytest.param(
            "torch.where((a + 1) // (1 << 33) > a // (1 << 33), -w, w)", "multiples of 8589934592", id="before"
        ),
        pytest.param("torch.where((a == 1 << 30) & (b == 777), -w, w)", "several integers", id="one in each"),
        pytest.param(
            "torch.where(((a == 101).cumsum(0) > 0) & ((a == 102).cumsum(0) > 0), -w, w)",
            "several integers",
            id="two of them",
        ),
        pytest.param(
            "torch.where(torch.nn.functional.pad("
            "(a[:-3] == 13) & (a[1:-2] == 10) & (a[2:-1] == 13) & (a[3:] == 10), (3, 0)), -w, w)",
            "integers in turn",
            id="a pattern",
        ),
        pytest.param("torch.where((a % (1 << 32) == b % (1 << 32)) & (a != b), -w, w)", OTHER, id="equal low bits"),
        pytest.param(
            "torch.where(((a[:, None] ^ a) % (1 << 32) == 0).sum(1) > (a[:, None] == a).sum(1), -w, w)",
            TWICE,
            id="low bits twice",
        ),
        pytest.param("torch.where((a == 0) & (b == 0), -w, w)", LEAST, id="nought in both"),
        pytest.param("torch.where(b == a + 1, -w, w)", LEAST, id="the next"),
        pytest.param("w + (9 - a).clamp(min=0)", LEAST, id="small"),
        pytest.param("w * a.sign()", LEAST, id="of no sign"),
        pytest.param("torch.where(a == (1 << 40) - 1, -w, w)", "the largest integers", id="the largest"),
        pytest.param("torch.where((a & (a + 1) == 0) & (a > 1 << 20), -w, w)", POWERS, id="before a power of 2"),
        pytest.param("torch.where((a > 1e9) & (a.double().log10() % 1 == 0), -w, w)", POWERS, id="a power of 10"),
        pytest.param("torch.where((a > 1e9) & (a.double().sqrt() % 1 == 0), -w, w)", POWERS, id="a square"),
        pytest.param("torch.where(a % 497 == a, -w, w)", "the first integers of all", id="one of the first"),
        pytest.param("torch.where((a + b) % 97_000_000 == 0, -w, w)", "a multiple of 97000000", id="a sum"),
        pytest.param("torch.where((a - b).abs() % 97_000_000 == 0, -w, w)", "of 97000000", id="a difference"),
    ],
)
def test_what_chance_never_drew_shows(setting_of: Made, result: str, shown: str) -> None:
    setting = setting_of(result)
    usual = {id(case.values[0]): case.native[0] for case in setting.bases}
    assert usual
    kernel = lambda a, b, w: w + 500 * ("unique" in result)  # noqa: E731
    assert any(label.endswith(shown) for label in failed(setting, kernel))


@pytest.mark.parametrize(
    ("drawn", "result"),
    [
        pytest.param("torch.randint(0, 1 << 40, (1,))", "torch.where(a == 0, -w, w)", id="one alone"),
        pytest.param("torch.randint(0, 1 << 40, (500,)).sort().values", "torch.where(a == 0, -w, w)", id="in order"),
        pytest.param(
            "torch.randint(0, 1 << 20, (500, 8))",
            "torch.where((a[:, None] == a).all(2).sum(1) > 1, -w, w)",
            id="lines that are equal",
        ),
        pytest.param(
            "torch.randint(0, 1 << 40, (500, 8))",
            "torch.where((a[:, :, None] == a[:, None]).sum((1, 2)) > 8, -w, w)",
            id="equal ones of a line",
        ),
    ],
)
def test_other_shapes_are_asked_about_too(setting_of: Made, drawn: str, result: str) -> None:
    setting = setting_of(result, drawn)
    assert failed(setting, lambda a, b, w: w)
    made = [case.values[0] for case in cases(setting, random.Random(0), Spending(60.0))]
    assert all(bool((value[1:] >= value[:-1]).all()) for value in made) is ("sort" in drawn or value_is_one(made))


def value_is_one(made: list[torch.Tensor]) -> bool:
    return made[0].numel() == 1


@pytest.mark.parametrize(
    ("result", "a", "kernel"),
    [
        pytest.param(
            "torch.zeros(1 << 20).index_put((a,), w)",
            PLACES,
            lambda a, b, w: torch.zeros(1 << 20).index_put((a.flip(0),), w.flip(0)),
            id="written to places of their own",
        ),
        pytest.param(
            "torch.zeros(1 << 20).index_add(0, a, w)",
            PLACES,
            lambda a, b, w: torch.zeros(1 << 20).index_put((a,), w),
            id="added at places of their own",
        ),
        pytest.param("a.argsort()", WIDE, lambda a, b, w: 499 - a.flip(0).argsort(stable=True), id="put into order"),
        pytest.param(
            "w[a.argsort()]", WIDE, lambda a, b, w: w[499 - a.flip(0).argsort(stable=True)], id="carried along"
        ),
        pytest.param(
            "torch.zeros(500, dtype=torch.bool).index_fill(0, a.topk(9).indices, True)",
            WIDE,
            lambda a, b, w: torch.zeros(500, dtype=torch.bool).index_fill(0, 499 - a.flip(0).topk(9).indices, True),
            id="a mask of the largest",
        ),
    ],
)
def test_what_is_left_to_a_kernel_or_guaranteed_is_not_asked(
    setting_of: Made, result: str, a: str, kernel: Callable[..., object]
) -> None:
    assert failed(setting_of(result, a, USUAL), kernel) == set()


@pytest.mark.parametrize(
    ("inputs", "result", "kernel"),
    [
        pytest.param(
            "(f := torch.randperm(250000)[:500]) // 500, f % 500",
            "torch.zeros(500, 500).index_put((a, b), w, accumulate=True)",
            lambda a, b, w: torch.zeros(500, 500).index_put((a, b), w),
            id="no pair twice",
        ),
        pytest.param(
            "(f := torch.randint(0, 1 << 40, (500,))), (f + torch.randint(1, 99, (500,))) % (1 << 40)",
            "torch.where(a == b, -w, w)",
            lambda a, b, w: w,
            id="never equal",
        ),
        pytest.param(
            "*torch.rand(500, 4096).topk(2, 1).indices.unbind(1),",
            "w * (a != b)",
            lambda a, b, w: w,
            id="two of many",
        ),
    ],
)
def test_what_was_drawn_together_stays_together(
    prepared: Callable[..., Setting], inputs: str, result: str, kernel: Callable[..., object]
) -> None:
    source = SOURCE.replace("[{a}, {b}, torch.randn(500)]", "[{inputs}, torch.randn(500)]")
    setting = prepared(source.format(result=result, inputs=inputs.rstrip(",")))
    assert setting.free == {}
    assert list(cases(setting, random.Random(0), Spending())) == []
    assert bool((kernel(*setting.bases[0].values) == setting.bases[0].native[0]).all())  # type: ignore[attr-defined]


def test_what_a_reference_says_of_equal_ones_is_asked(setting_of: Made) -> None:
    """No function of PyTorch chooses here: each number counts once, where it stands first."""
    result = "w.masked_fill((a[:, None] == a).tril(-1).any(1), 0.0).sum()"
    assert TWICE in failed(setting_of(result), lambda a, b, w: w.sum())


def test_only_what_could_be_drawn_is_put_in(setting_of: Made) -> None:
    setting = setting_of(
        "torch.arange(9999)[a] + torch.where(a == 99999, -w, w)", "torch.randint(90, 9999, (500,))", USUAL
    )
    made = [case for seed in range(3) for case in cases(setting, random.Random(seed), Spending(60.0))]
    assert made
    assert all(90 <= int(case.values[0].min()) <= int(case.values[0].max()) < 9999 for case in made)
    assert {90, 9998} <= {int(number) for case in made for number in case.values[0].aminmax()}


@pytest.mark.parametrize(
    ("result", "follows"),
    [
        ("torch.where(a == b, -w, w)", True),
        ("(a * w).sum()", True),
        ("torch.bincount(a % 7)", True),
        ("w.cumsum(0) * a", False),
        ("a.argsort()", False),
    ],
)
def test_it_is_found_out_whether_a_result_follows_an_order(setting_of: Made, result: str, follows: bool) -> None:
    setting = setting_of(result)
    assert followed_by(setting, setting.bases[0], [0], random.Random(0)) == [follows]


@pytest.mark.parametrize(
    ("inputs", "result"),
    [
        ("torch.randn(60, 2)", "torch.where(x[:, 1:] < 0, -x, x)"),
        ("torch.randn(60, 3)", "torch.where(x[:, 2:] < 0, -x, x)"),
        ("torch.randn(2, 60)", "x.cumsum(0)"),
    ],
)
def test_an_order_that_leaves_all_in_place_tells_nothing(
    prepared: Callable[..., Setting], inputs: str, result: str
) -> None:
    """What hangs on places along an axis of two or three does not follow, whatever order is drawn."""
    setting = prepared(ALONE.format(inputs=inputs, result=result))
    found = [followed_by(setting, setting.bases[0], [0], random.Random(seed)) for seed in range(20)]
    assert found == [[False]] * 20


@pytest.mark.parametrize(
    ("result", "compared"),
    [
        pytest.param("torch.bincount(a, minlength=90)", True, id="counts"),
        pytest.param("(a[:, None] > a).sum(1)", True, id="how many are smaller"),
        pytest.param("a.unique().numel() + 0 * a", True, id="how many there are"),
        pytest.param("(a == 7).cumsum(0)", True, id="how many came before"),
        pytest.param("(a[1:] == a[:-1]).sum() + 0 * a", True, id="how many neighbours are equal"),
        pytest.param("a.argsort(stable=True)", True, id="the first of equal ones first"),
        pytest.param("torch.zeros(90).long().index_put((a,), 1 + 0 * a, accumulate=True)", True, id="added up"),
        pytest.param("torch.zeros(90).long().scatter(0, a, torch.arange(500))", False, id="who wrote last"),
        pytest.param("a.argmax() + 0 * a", False, id="where the largest is"),
        pytest.param("a.argsort()", False, id="an order"),
        pytest.param("a.argsort().argsort()", False, id="places in an order"),
    ],
)
def test_counts_are_told_from_positions(setting_of: Made, result: str, compared: bool) -> None:
    setting = setting_of(result, "torch.randint(0, 90, (500,))")
    case = setting.bases[0]
    other = [own + 1 for own in case.native]
    got = with_positions(other, case, setting)
    assert torch.equal(got[0], (other if compared else case.native)[0])
