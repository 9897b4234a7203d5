"""What all draws of an input have in common stays as it is in values that the judge makes up."""

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.drawing.regularity import Regularity, kept, marks, regularities  # noqa: E402


def _draws(make: object, count: int = 3) -> list[list[object]]:
    assert callable(make)
    torch.manual_seed(7)
    return [[make()] for _ in range(count)]


def test_a_triangle_of_zeros_is_kept() -> None:
    known = regularities(_draws(lambda: torch.randn(6, 6).triu()))
    (value,) = kept([torch.ones(6, 6)], known)
    assert torch.equal(value, torch.ones(6, 6).triu())
    assert known[0].allows((0, 3))
    assert not known[0].allows((3, 0))
    assert known[0].described() == "15 of its elements are 0 in every draw"


def test_symmetry_is_kept() -> None:
    def symmetric() -> object:
        half = torch.randn(5, 5)
        return half + half.t()

    known = regularities(_draws(symmetric))
    (value,) = kept([torch.arange(25.0).view(5, 5)], known)
    assert torch.equal(value, value.t())
    assert float(value[4, 0]) == 20.0
    assert known[0].allows((3, 1))
    assert not known[0].allows((1, 3))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: torch.randn(8, 8), id="no zeros"),
        pytest.param(lambda: torch.randn(64, 64).clamp(-1, 0) + torch.randn(64, 64).relu(), id="zeros by chance"),
        pytest.param(lambda: torch.zeros(4, 4), id="nothing but zeros"),
        pytest.param(lambda: torch.randn(64, 64) * (torch.rand(64, 64) > 0.96), id="nearly all zeros, by chance"),
        pytest.param(lambda: torch.rand(64, 64), id="as near to 0 as chance brings them"),
        pytest.param(lambda: torch.randn(64, 64).relu(), id="never negative"),
        pytest.param(lambda: torch.ones(4, 4), id="one number"),
        pytest.param(lambda: torch.randint(0, 2, (4, 4)), id="integers"),
        pytest.param(lambda: 3, id="not a tensor"),
    ],
)
def test_what_is_not_regular_is_left_alone(make: object) -> None:
    assert regularities(_draws(make)) == {}


def test_one_draw_says_nothing() -> None:
    assert regularities(_draws(lambda: torch.randn(6, 6).triu(), count=1)) == {}


RISING, FALLING = "its numbers rise along axis 0", "its numbers fall along axis 1"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda: -1 - torch.rand(40), "its numbers are negative, away from 0", id="negative"),
        pytest.param(
            lambda: torch.rand(9, 9) * 0.2 + 0.8,
            "its numbers are positive, away from 0 and no larger than 1",
            id="gates",
        ),
        pytest.param(lambda: torch.randn(12).sort().values, RISING, id="edges"),
        pytest.param(lambda: torch.randn(3, 30).clamp(-1, 1).sort(descending=True).values, FALLING, id="with ties"),
    ],
)
def test_values_stay_within_what_was_drawn(make: object, said: str) -> None:
    draws = _draws(make)
    known = regularities(draws)
    assert known[0].described() == said
    for change in (-2.5, 0.3, 0.0, 1e-3, 1e4):
        for draw in draws:
            (value,) = kept([draw[0] * change], known)  # type: ignore[operator]
            assert _still(known[0], value), change
    far, spiked = draws[0][0] + 120, draws[0][0].clone()  # type: ignore[operator, attr-defined]
    spiked[0] *= -50
    for value in (far, spiked):
        assert _still(known[0], kept([value], known)[0])


def _still(known: Regularity, value: torch.Tensor) -> bool:
    extent = known.extent
    if extent is not None:
        return bool((value * extent.sign > 0).all()) and (extent.most is None or float(value.abs().amax()) <= 1)
    return all(torch.equal(value, value.sort(dim=o.axis, descending=o.falls).values) for o in known.orders)


def test_what_bounds_by_chance_bounds_nothing() -> None:
    assert regularities(_draws(lambda: torch.rand(3) + 1)) == {}
    assert regularities(_draws(lambda: torch.randn(3).sort().values)) == {}


def test_numbers_that_differ_stay_different_in_their_order() -> None:
    known = regularities(_draws(lambda: torch.rand(20).cumsum(0) + 10))
    (value,) = kept([torch.tensor([5.0, -3.0]).repeat(10)], known)
    assert bool((value[1:] > value[:-1]).all())
    assert float(value[0]) >= 3


@pytest.mark.parametrize(
    ("make", "are"),
    [
        (lambda: (torch.rand(30, 30) < 0.9).float(), True),
        (lambda: (torch.rand(30, 30) < 0.9) / 0.9, True),
        (lambda: torch.randint(0, 500, (30,)).float(), True),
        (lambda: torch.randint(0, 1 << 24, (300,)).float(), True),
        (lambda: torch.randint(1 << 22, 1 << 23, (9,)).float(), False),
        (lambda: torch.randint(1 << 23, 1 << 24, (300,)).float(), False),
        (lambda: torch.zeros(30).masked_fill(torch.rand(30) < 0.5, -torch.inf), True),
        (lambda: torch.ones(30), False),
        (lambda: torch.randn(30, 30), False),
        (lambda: torch.randn(30, 30) * 1e9, False),
        (lambda: torch.randn(30, 30) * (torch.rand(30, 30) < 0.04), False),
        (lambda: torch.randint(0, 500, (30,)), False),
    ],
)
def test_flags_and_labels_are_marks(make: object, are: bool) -> None:
    assert marks(_draws(make)) == (frozenset({0}) if are else frozenset())
    assert marks(_draws(make, count=1)) == frozenset()
