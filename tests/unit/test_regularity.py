"""What all draws of an input have in common stays as it is in values that the judge makes up."""

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.regularity import kept, regularities  # noqa: E402


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
        pytest.param(lambda: torch.randn(64, 64).relu(), id="zeros by chance"),
        pytest.param(lambda: torch.zeros(4, 4), id="nothing but zeros"),
        pytest.param(lambda: torch.randn(64, 64) * (torch.rand(64, 64) > 0.96), id="nearly all zeros, by chance"),
        pytest.param(lambda: torch.ones(4, 4), id="one number"),
        pytest.param(lambda: torch.randint(0, 2, (4, 4)), id="integers"),
        pytest.param(lambda: 3, id="not a tensor"),
    ],
)
def test_what_is_not_regular_is_left_alone(make: object) -> None:
    assert regularities(_draws(make)) == {}


def test_one_draw_says_nothing() -> None:
    assert regularities(_draws(lambda: torch.randn(6, 6).triu(), count=1)) == {}
