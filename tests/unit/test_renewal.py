"""Where a generator is slow, timed calls get values that nobody saw before, or new draws."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.errors import UserError  # noqa: E402
from kernwright.evaluation.drawing.freedom import freedoms  # noqa: E402
from kernwright.evaluation.drawing.liberties import settle_slow  # noqa: E402
from kernwright.evaluation.drawing.renewal import is_renewable, renewed  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x", "{drawn}")


def _draws(make: Callable[[], object]) -> list[list[object]]:
    torch.manual_seed(5)
    return [[make()] for _ in range(3)]


@pytest.mark.parametrize(
    ("make", "can"),
    [
        (lambda: torch.randn(20, 30), True),
        (lambda: torch.randn(20, 30).relu(), True),
        (lambda: torch.randn(20, 30, dtype=torch.complex64), True),
        (lambda: torch.randn(20, 30, dtype=torch.bfloat16), True),
        (lambda: torch.randint(0, 99, (20, 30)), True),
        (lambda: torch.rand(20, 30) > 0.5, True),
        (lambda: torch.randperm(500), True),
        (lambda: torch.ones(3), True),
        (lambda: 3, True),
        (lambda: torch.randint(0, 99, (60,)).sort().values, False),
        (lambda: torch.bincount(torch.randint(0, 12, (100,)), minlength=12), False),
        (lambda: torch.randint(0, 2, (20, 30)).float(), False),
        (lambda: torch.randn(20, 30).masked_fill(torch.rand(20, 30) > 0.5, -torch.inf), False),
        (lambda: float(torch.rand(())), False),
    ],
)
def test_what_is_renewable(make: Callable[[], object], can: bool) -> None:
    draws = _draws(make)
    assert is_renewable(draws, freedoms(draws)) is can


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_no_row_comes_again_and_ranges_hold(dtype: str) -> None:
    draws = _draws(lambda: torch.rand(20, 30).to(getattr(torch, dtype)))
    (value,), (another,) = (renewed(draws, {}, random.Random(seed)) for seed in (1, 2))
    assert isinstance(value, torch.Tensor)
    for (known,) in [*draws, [another]]:
        assert not bool((value == known).all(1).any())
    assert value.dtype == getattr(torch, dtype)
    least, most = (torch.view_as_real(value) if value.is_complex() else value).aminmax()
    assert (float(least), float(most)) >= (0.0, 0.9)
    assert float(most) <= 1.0


def test_zeros_stay_as_rare_as_they_were() -> None:
    draws = _draws(lambda: torch.randn(200, 300) * (torch.rand(200, 300) < 0.04))
    (value,) = renewed(draws, {}, random.Random(1))
    assert 0.03 < float((value != 0).float().mean()) < 0.05


def test_integers_come_in_another_order_and_of_several_draws() -> None:
    draws = _draws(lambda: torch.randint(0, 1000, (5000,)))
    (value,) = renewed(draws, freedoms(draws), random.Random(1))
    for (known,) in draws:
        assert isinstance(known, torch.Tensor)
        assert float((value == known).float().mean()) < 0.01
        assert not torch.equal(value.sort().values, known.sort().values)
    order = _draws(lambda: torch.randperm(500))
    (value,) = renewed(order, freedoms(order), random.Random(1))
    assert torch.equal(value.sort().values, torch.arange(500))
    assert not any(torch.equal(value, known) for (known,) in order)


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[[str, str], Setting]:
    def make(result: str, drawn: str) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn))

    return make


@pytest.mark.parametrize(
    ("result", "drawn", "renews"),
    [
        ("x.sort().values", "torch.randint(0, 9999, (3000,))", True),
        ("x + 1", "torch.randn(20, 30)", True),
        ("x * 2", "torch.randint(0, 99, (60,)).sort().values", False),
        ("torch.linalg.cholesky(x)", "(lambda a: a @ a.T + torch.eye(9))(torch.randn(9, 9))", False),
        ("torch.log(torch.abs(x.abs().sum(1) - 1) < 1e-4)", "torch.eye(8)[torch.randperm(8)] * 0.5 + 0.0625", False),
    ],
)
def test_a_slow_generator_never_has_a_base_repeated(
    setting_of: Callable[[str, str], Setting], result: str, drawn: str, renews: bool
) -> None:
    setting, rng = setting_of(result, drawn), random.Random(3)
    setting.draw_s = 1.0
    settle_slow(setting, rng)
    assert setting.renews is renews
    assert ("made anew" in setting.reference.notes[-1]) is renews
    seen = [base.values[0] for base in setting.bases]
    for _ in range(8):
        value = setting.drawn(rng)[0]
        assert not any(torch.equal(value, known) for known in seen)
        seen.append(value)


def test_what_is_drawn_too_slowly_is_refused_with_a_sentence(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x * 2", "torch.randint(0, 99, (60,)).sort().values")
    setting.draw_s = 7.25
    with pytest.raises(UserError, match=r"takes 7\.2 s.*faster than 5 s"):
        settle_slow(setting, random.Random(3))
