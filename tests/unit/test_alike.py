"""One number at a few places shows what a sum over many hides, and honest sums and norms bear it."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "{drawn}, {second}")
Made = Callable[..., Setting]
LABEL = "one number at a few places"


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str = "torch.randn(8, 8192)", second: str = "torch.randn(8192)") -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn, second=second))

    return make


def failed(setting: Setting, kernel: Callable[..., torch.Tensor], seeds: int = 3) -> tuple[int, int]:
    """How many such cases there were, and in how many this kernel was wrong."""
    seen = wrong = 0
    for seed in range(seeds):
        for probe in probes(setting, random.Random(seed)):
            if probe.case.label == LABEL:
                seen += 1
                wrong += not probe.compare([kernel(*probe.case.values)]).passed
    return seen, wrong


def _short(x: torch.Tensor) -> torch.Tensor:
    """Of eleven bits, rounded to nearest."""
    return ((x.view(torch.int32) + 0x800) & -0x1000).view(torch.float32)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("torch.lgamma(x.abs() + 1)", lambda x: torch.lgamma(x.abs() + 1)),  # of 0 nothing
        ("torch.nn.functional.softplus(x)", torch.nn.functional.softplus),  # of -120 nothing
    ],
)
def test_a_short_table_shows_that_a_mean_hides(
    setting_of: Made, name: str, function: Callable[..., torch.Tensor]
) -> None:
    name = (
        "torch.lgamma(x.abs() + 1)"
        if function is not torch.nn.functional.softplus
        else "torch.nn.functional.softplus(x)"
    )
    setting = setting_of(f"{name}.mean(1) + 0 * y.sum().sign()")
    base = setting.bases[0]
    assert failed(setting, lambda x, y: function(x).mean(1))[1] == 0
    for kernel in (lambda x: function(_short(x)).mean(1), lambda x: _short(function(x)).mean(1)):
        assert float((kernel(base.values[0]) / base.native[0] - 1).abs().max()) < 4e-5  # the usual draws hide it
        seen, wrong = failed(setting, lambda x, y, kernel=kernel: kernel(x), seeds=9)
        assert seen >= 18
        assert wrong >= seen / 3  # each try may be near to what a short format has


def _in_a_chain(x: torch.Tensor) -> torch.Tensor:
    """One float32 addition after the other."""
    total = torch.zeros(x.shape[0])
    for column in x.T.contiguous():
        total += column
    return total


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param("x.abs().sum(1) * y.norm()", lambda x, y: _in_a_chain(x.abs()) * y.norm(), id="chain"),
        pytest.param(
            "torch.nn.functional.layer_norm(x, (8192,)) * y",
            lambda x, y: (x - x.mean(1, True)) * ((x * x).mean(1, True) - x.mean(1, True) ** 2 + 1e-5).rsqrt() * y,
            id="one-pass norm",
        ),
        pytest.param(
            "torch.lgamma(x.abs() + 1).mean(1)", lambda x, y: _log_gamma(x.abs() + 1).mean(1), id="near roots"
        ),
        pytest.param("x.cumsum(1) * y", lambda x, y: x.double().cumsum(1).float() * y, id="prefix sums"),
    ],
)
def test_honest_sums_are_right(setting_of: Made, result: str, kernel: Callable[..., torch.Tensor]) -> None:
    setting = setting_of(result)
    seen, wrong = failed(setting, kernel, seeds=6)
    assert seen >= 12
    assert wrong == 0


def _log_gamma(z: torch.Tensor) -> torch.Tensor:
    """Stirling's series from 4 on, and the logarithm of what leads there: the last digits of numbers of size 5."""
    product, shifted = torch.ones_like(z), z
    for _ in range(3):
        product, shifted = product * shifted, shifted + 1
    series = (1 / 12 - (1 / 360 - 1 / 1260 / shifted**2) / shifted**2) / shifted
    return (shifted - 0.5) * shifted.log() - shifted + 0.9189385332 + series - product.log()


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        pytest.param("x.tanh() * y", "torch.randn(8, 8192)", id="element by element"),
        pytest.param("torch.softmax(x, 1) * y", "torch.randn(8, 8192)", id="no number is nothing"),
        pytest.param("x.argmax(1) + 0 * y.argmax()", "torch.randn(8, 8192)", id="which of equal ones"),
        pytest.param("x.mean(1) + 0 * y.sum()", "torch.rand(8, 8192) + 0.5", id="never 0"),
    ],
)
def test_elsewhere_it_says_nothing(setting_of: Made, result: str, drawn: str) -> None:
    assert failed(setting_of(result, drawn), lambda x, y: x)[0] == 0


def test_two_inputs_have_a_number_each_at_the_same_places(setting_of: Made) -> None:
    setting = setting_of("(x - y).abs().sum(1)", second="torch.randn(8, 8192)")
    seen, wrong = failed(setting, lambda x, y: _in_a_chain((x - y).abs()))
    assert seen >= 4
    assert wrong == 0
    for probe in probes(setting, random.Random(1)):
        if probe.case.label == LABEL:
            first, second = probe.case.values
            assert torch.equal(first != 0, second != 0)
            assert len(first.unique()) == len(second.unique()) == 2
            assert 32 <= int((first != 0).sum(1).min()) <= int((first != 0).sum(1).max()) <= 256
