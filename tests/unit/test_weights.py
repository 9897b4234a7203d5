"""Which parameters and buffers results have to follow, and what other values they get."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kernwright.evaluation.runner.structure import flagged, flags  # noqa: E402
from kernwright.evaluation.state import vary  # noqa: E402
from kernwright.evaluation.weights import Weight, followed  # noqa: E402


def _found(build: Callable[[nn.Module], None]) -> dict[str, Weight]:
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = nn.Module()
        build(model)
        models.append(model)
    return followed(models[0], models[1])


def _buffers(model: nn.Module) -> None:
    model.linear = nn.Linear(5, 6)
    model.register_buffer("drawn", torch.randn(40, 40))
    model.register_buffer("triangle", torch.randn(40, 40).tril())
    model.register_buffer("codes", torch.randint(-127, 128, (64, 64), dtype=torch.int8))
    model.register_buffer("turns", torch.randn(8, 8, dtype=torch.complex64))
    model.register_buffer("mean", torch.zeros(40))
    model.register_buffer("table", torch.linspace(0, 1, 40))
    model.register_buffer("mask", torch.ones(40, 40).tril())
    model.register_buffer("steps", torch.tensor(0))
    model.register_buffer("offsets", torch.randint(0, 99, (30,)).sort().values)


def test_what_no_seed_decides_belongs_to_the_problem() -> None:
    found = _found(_buffers)
    assert {*found} == {"linear.weight", "linear.bias", "drawn", "triangle", "codes", "turns", "mean"}
    assert {name for name, weight in found.items() if weight.parameter} == {"linear.weight", "linear.bias"}


def test_parameters_alone_where_there_is_no_second_module() -> None:
    assert {*followed(nn.Linear(3, 4), None)} == {"weight", "bias"}


def test_a_function_has_no_weights() -> None:
    assert followed(torch.sin, None) == {}


@pytest.mark.parametrize("one", [False, True])
def test_buffers_change_and_keep_what_they_have_in_common(one: bool) -> None:
    found, rng = _found(_buffers), random.Random(4)
    positive, triangle = torch.rand(40, 40) + 0.1, torch.randn(40, 40).tril()
    changed = found["drawn"].changed(positive, rng, one=one)
    assert float(changed.min()) > 0
    assert int((changed != positive).sum()) == (1 if one else 25)
    changed = found["triangle"].changed(triangle, rng, one=one)
    assert not torch.equal(changed, triangle)
    assert torch.equal(changed, changed.tril())
    codes = torch.randint(-127, 128, (64, 64), dtype=torch.int8)
    changed = found["codes"].changed(codes, rng, one=one)
    assert torch.equal(changed.flatten().sort().values, codes.flatten().sort().values)
    assert int((changed != codes).sum()) == 2 if one else float((changed != codes).float().mean()) > 0.9
    turns = torch.randn(8, 8, dtype=torch.complex64)
    assert int((found["turns"].changed(turns, rng, one=one) != turns).sum()) in (1, 2)


def test_equal_weights_are_moved_apart_in_proportion() -> None:
    generator = torch.Generator().manual_seed(0)
    for value, least, most in ((0.02, 0.016, 0.024), (1.0, 0.8, 1.2), (0.0, -0.2, 0.2), (-3.0, -3.6, -2.4)):
        tensor = torch.full((500,), value)
        vary(tensor, generator)
        assert least <= float(tensor.min()) < float(tensor.max()) <= most
        assert float(tensor.std()) > 0.3 * abs(most - least) / 2


@pytest.mark.parametrize("values", [[], [True], [False] * 9 + [True], [True] * 40, [False, True] * 500])
def test_flags_say_which(values: list[bool]) -> None:
    names = [str(number) for number in range(len(values))]
    assert flagged(flags(values), names) == [name for name, value in zip(names, values, strict=True) if value]


@pytest.mark.parametrize("said", [None, [], "no", "", "fffff", 3.5, {}])
def test_what_makes_no_sense_says_that_nothing_is_there(said: object) -> None:
    assert flagged(said, ["a", "b"]) == ["a", "b"]
