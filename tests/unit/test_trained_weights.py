"""Weights as training or pruning leaves them: what the judge makes of weights, and what it asks of whom."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from kernwright.core.candidate import SourceFile  # noqa: E402
from kernwright.core.outcome import CheckResult  # noqa: E402
from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.checks.trained_weights import TrainedWeights, _lines_of_zeros, _other_signs  # noqa: E402
from kernwright.evaluation.participants.participant import Participant  # noqa: E402
from kernwright.evaluation.participants.workshop import Workshop  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.trial import Trial  # noqa: E402
from kernwright.evaluation.weights.changes import followed  # noqa: E402
from kernwright.evaluation.weights.state import train  # noqa: E402
from kernwright.platforms.cpu import Cpu  # noqa: E402


class Buffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("points", torch.zeros(64, 4, dtype=torch.int8))
        self.register_buffer("high", torch.full((64,), 127, dtype=torch.int8))
        self.register_buffer("pruned", torch.zeros(640, dtype=torch.bool))
        self.register_buffer("places", torch.zeros(64, dtype=torch.int64))
        self.register_buffer("count", torch.tensor(0, dtype=torch.int8))
        self.taps = nn.Parameter(torch.linspace(0, 1, 9), requires_grad=False)
        self.drawn = nn.Parameter(torch.randn(9), requires_grad=False)
        self.weight = nn.Parameter(torch.randn(8, 8))


def test_codes_and_flags_that_are_one_number_change_and_places_do_not() -> None:
    found = followed(Buffers(), Buffers())
    assert {*found} == {"points", "high", "pruned", "drawn", "weight"}
    model, rng = Buffers(), random.Random(3)
    for name in ("points", "high", "pruned"):
        value = getattr(model, name)
        for one in (False, True):
            changed = found[name].changed(value, rng, one=one)
            assert changed.dtype == value.dtype
            assert int((changed != value).sum()) == (1 if one else max(1, value.numel() // 64))


def test_a_frozen_parameter_is_as_much_the_problems_as_a_buffer() -> None:
    found = followed(Buffers(), Buffers())
    assert "taps" not in found
    assert {name for name, weight in found.items() if weight.parameter} == {"weight"}


@pytest.mark.parametrize("one", [False, True])
def test_knots_stay_in_order(one: bool) -> None:
    model = nn.Module()
    model.knots = nn.Parameter(torch.linspace(-2, 2, 17))
    found = followed(model, None)["knots"]
    for seed in range(20):
        changed = found.changed(model.knots.data, random.Random(seed), one=one)
        assert torch.equal(changed, changed.sort().values)
        assert not torch.equal(changed, model.knots.data)


class Sparse(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("drawn", torch.randn(8, 64) * (torch.rand(8, 64) < 0.1))
        self.register_buffer("fixed", torch.randn(8, 64).tril())
        self.register_buffer("dense", torch.randn(8, 64))
        self.register_buffer("turn", torch.linalg.qr(torch.randn(16, 16)).Q.contiguous())
        self.register_buffer("scale", 2.0 ** torch.randint(-6, 7, (64,)))
        self.register_buffer("variance", torch.ones(64))


@pytest.mark.parametrize("one", [False, True])
def test_orthogonal_buffers_and_powers_of_two_stay_such(one: bool) -> None:
    found, model = followed(Sparse(), Sparse()), Sparse()
    turned = found["turn"].changed(model.turn, random.Random(1), one=one)
    assert not torch.equal(turned, model.turn)
    torch.testing.assert_close(turned @ turned.T, torch.eye(16))
    scaled = found["scale"].changed(model.scale, random.Random(1), one=one)
    assert not torch.equal(scaled, model.scale)
    assert bool((torch.frexp(scaled).mantissa == 0.5).all())
    assert {name for name, weight in found.items() if weight.level} == {"variance"}


def test_zeros_that_a_seed_decides_move_by_half_a_line_so_that_blocks_stay_blocks() -> None:
    found, model = followed(Sparse(), Sparse()), Sparse()
    assert {name for name, weight in found.items() if weight.sparse} == {"drawn"}
    changed = found["drawn"].changed(model.drawn, random.Random(1), one=False)
    assert torch.equal(changed, model.drawn.roll(32, -1))
    changed = found["fixed"].changed(model.fixed, random.Random(1), one=False)
    assert torch.equal(changed == 0, model.fixed == 0)


@pytest.mark.parametrize("shape", [(), (1,), (7, 9), (3, 4, 5)])
def test_half_of_the_signs_are_others(shape: tuple[int, ...]) -> None:
    weight = torch.rand(shape) + 0.5
    turned = _other_signs(weight, random.Random(1))
    assert torch.equal(turned.abs(), weight)
    assert bool((turned < 0).any())
    assert weight.numel() < 20 or bool((turned > 0).any())


def test_a_line_of_zeros_along_either_end() -> None:
    pruned = _lines_of_zeros(torch.ones(6, 7, 8), random.Random(1))
    assert int((pruned.sum((1, 2)) == 0).sum()) == 1
    assert int((pruned.sum((0, 1)) == 0).sum()) == 1


PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(64) + 0.5)
        self.spread = torch.nn.Parameter(torch.rand(64) + 0.5)

    def forward(self, x):
        return torch.relu(x * self.scale) * self.spread.sqrt()


def get_inputs():
    return [torch.randn(32, 64)]
"""
CANDIDATE = """\
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(64))
        self.spread = torch.nn.Parameter(torch.ones(64))

    def forward(self, x):
        return {result}
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    platform = Cpu()
    workshop = Workshop(platform, platform.targets()[0])
    yield workshop
    workshop.close()


@contextmanager
def _open(shop: Workshop, setting: Setting, kernel: str) -> Iterator[Participant]:
    """A runner that has this kernel and was called once."""
    with shop.runner("candidate", (SourceFile(name="main.py", text=kernel),), QUICK) as participant:
        participant.open(setting, "ModelNew")
        participant.fill(0, 0, setting.bases[0].values)
        participant.warm(0, 0, setting.bases[0].values)
        yield participant


def _verified(setting: Setting, participant: Participant, rules: Rules | None = None) -> CheckResult:
    return TrainedWeights().verify(Trial(setting, participant, rules or Rules(), random.Random(5)))


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ("torch.relu(x * self.scale) * self.spread.sqrt()", True),
        ("torch.relu(x) * (self.scale * self.spread.sqrt())", False),  # right while scales are positive
    ],
)
def test_a_root_of_one_weight_does_not_keep_another_from_being_negative(
    shop: Workshop, prepared: Callable[..., Setting], result: str, right: bool
) -> None:
    setting = prepared(PROBLEM)
    with _open(shop, setting, CANDIDATE.format(result=result)) as participant:
        found = _verified(setting, participant)
        assert found.passed is right, found.detail
        assert right or "other signs" in found.detail
        assert _verified(setting, participant, Rules(prepack=True)).passed


@pytest.mark.parametrize(
    ("forward", "result", "said"),
    [
        ("torch.where(self.scale.abs() < 1e-3, x, x / self.scale)", "x / self.scale", "next to nothing"),
        ("torch.where(self.scale == 2.5, -x, x / (self.scale + 9))", "x / (self.scale + 9)", "numbers of the problem"),
    ],
)
def test_a_branch_that_no_weight_takes_at_first_is_taken(
    shop: Workshop, prepared: Callable[..., Setting], forward: str, result: str, said: str
) -> None:
    setting = prepared(PROBLEM.replace("torch.relu(x * self.scale)", forward))
    for text, right in ((forward, True), (result, False)):
        kernel = CANDIDATE.format(result=f"({text}) * self.spread.sqrt()")
        with _open(shop, setting, kernel) as participant:
            found = _verified(setting, participant)
            assert found.passed is right, found.detail
            assert right or said in found.detail


def test_complex_weights_have_numbers_of_the_problem_too(shop: Workshop, prepared: Callable[..., Setting]) -> None:
    forward = "0.5 * x + (torch.fft.fft(x) * self.spread).real"
    complex_ones = ("torch.rand(64) + 0.5)\n\n", "torch.randn(64, dtype=torch.cfloat))\n\n")
    setting = prepared(
        PROBLEM.replace("torch.relu(x * self.scale) * self.spread.sqrt()", forward).replace(*complex_ones)
    )
    assert setting.state["spread"].is_complex()
    text = CANDIDATE.replace("torch.ones(64))\n\n", "torch.ones(64, dtype=torch.cfloat))\n\n")
    kernel = text.format(result="(self.spread * torch.fft.fft(x)).real + x / 2")
    with _open(shop, setting, kernel) as participant:
        found = _verified(setting, participant)
        assert found.passed, found.detail


class Untrained(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(9, 9), nn.Linear(9, 9)
        self.second.load_state_dict(self.first.state_dict())
        self.scale = nn.Parameter(torch.full((9,), -1e-6))
        self.turn = nn.Parameter(torch.eye(9))
        self.knots = nn.Parameter(torch.linspace(0, 1, 9))
        self.table = nn.Parameter(torch.ones(9), requires_grad=False)


def test_where_weights_may_be_packed_nothing_of_how_they_start_is_left() -> None:
    model, fresh = Untrained(), Untrained()
    fresh.load_state_dict(model.state_dict())
    train(model, torch.Generator().manual_seed(3))
    assert not torch.equal(model.first.weight, model.second.weight)
    assert bool((model.scale <= -0.5).all())
    assert bool((model.turn != 0).all())
    assert torch.equal(model.knots, fresh.knots)
    assert torch.equal(model.table, fresh.table)
