"""The reference under other roundings: what it moves, what it leaves alone, and what it excuses."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.errors import comparison  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.gross import loses_digits_alone, merely_unstable  # noqa: E402
from kernwright.evaluation.errors.random_rounding import RUNS, rounded_at_random  # noqa: E402
from kernwright.evaluation.problem.cases import Asked  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.wider import oracle_for  # noqa: E402

SOURCE = """
import torch
def get_inputs():
    return [torch.randn(16, 8)]
class Model(torch.nn.Module):
    def forward(self, x):
        return {result}
"""
ATTENTION = """
import torch
def get_inputs():
    return [torch.randn(32, 16) for _ in range(3)]
class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return (q @ k.mT / 4).softmax(-1) @ v
"""


def _case(source: str, change: Callable[[torch.Tensor], torch.Tensor] = lambda x: x, **fields: object) -> Asked:
    problem = Problem(name="p", source=source, workloads=(Workload(name="w"),), **fields)  # type: ignore[arg-type]
    reference = Reference(problem)
    model = reference.model(problem.workloads[0], [], 0, None)
    values = reference.inputs(problem.workloads[0], 1)
    count = len(reference._drawn(problem.workloads[0], 1))
    values = [*map(change, values[:count]), *values[count:]]
    double = oracle_for(reference, model, values)
    case = reference.case(model, double, values, "by hand", 1)
    assert isinstance(case, Asked)
    return case


def _moved(case: Asked) -> float:
    """The largest difference of a result under another rounding, over the largest result."""
    runs = list(rounded_at_random(case))
    assert len(runs) == RUNS
    pairs = [(own, usual) for run in runs for own, usual in zip(run, case.native, strict=True)]
    return max(float((own - usual).abs().max() / usual.abs().max()) for own, usual in pairs)


@pytest.mark.parametrize("result", ["x * 2", "x.round() @ x.round().mT", "x.amax(-1)", "x[:, 3] + 0", "x.mT.clone()"])
def test_exact_arithmetic_stays_exact(result: str) -> None:
    assert _moved(_case(SOURCE.format(result=result))) == 0


@pytest.mark.parametrize("result", ["x * 0.3", "x @ x.mT", "x.sum(0)", "x.tanh()", "torch.complex(x, x) / 3"])
def test_what_rounds_is_rounded_otherwise(result: str) -> None:
    assert 0 < _moved(_case(SOURCE.format(result=result))) < 4 * torch.finfo(torch.float32).eps


def test_random_numbers_are_the_same_ones() -> None:
    assert _moved(_case(SOURCE.format(result="torch.bernoulli(torch.full((4, 4), 0.5)) + 0 * x.sum()"))) == 0


def test_exponentials_lose_as_many_digits_as_their_argument_is_large() -> None:
    result, eps = "(x.abs() * 0 + 64).exp()", torch.finfo(torch.float32).eps
    assert 16 * eps < _moved(_case(SOURCE.format(result=result))) < 64 * eps


def test_a_difference_that_pytorch_takes_exactly_is_left_with_digits_of_its_terms() -> None:
    """Where one key outweighs all others the gradient of a query is 0, as a difference of equal numbers."""
    case = _case(ATTENTION, lambda x: 40 * x, backward=True)
    own = case.native[1]
    moved = max(float((run[1] - own).abs().max()) for run in rounded_at_random(case))
    assert moved > 1e-6 * float(own.abs().max())


def _by_logarithms(case: Asked, short: bool = False) -> list[torch.Tensor]:
    """Attention and gradients as flash attention computes them; `short`: with gradients that bfloat16 rounded."""
    q, k, v, along = case.values
    scores = q @ k.mT * 0.25
    shares = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    out = shares @ v
    inner = shares * (along @ v.mT - (along * out).sum(-1, keepdim=True)) * 0.25
    inner = inner.bfloat16().float() if short else inner
    return [out, inner @ k, inner.mT @ q, shares.mT @ along]


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_other_roundings_excuse_no_narrow_numbers(scale: float) -> None:
    case = _case(ATTENTION, lambda x: scale * x, backward=True)
    problem = Problem(name="p", source=ATTENTION, workloads=(Workload(name="w"),), backward=True)
    assert compare(_by_logarithms(case), case, problem).passed
    assert not compare(_by_logarithms(case, short=True), case, problem).passed


def test_flash_attention_is_merely_less_stable_where_exponents_are_large() -> None:
    rng = random.Random(4)
    for _ in range(4):
        scale = rng.uniform(100, 140)
        case = _case(ATTENTION, lambda x, scale=scale: x.abs() * scale, backward=True)  # type: ignore[misc]
        got = _by_logarithms(case)
        assert loses_digits_alone(got, case, gradients=True)
        wrong = [got[0] * 1.5, *got[1:]]
        assert not loses_digits_alone(wrong, case, gradients=True)
        assert not merely_unstable(wrong, case.native, case.oracle)


def test_a_leap_of_the_reference_excuses_none_of_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that falls out otherwise under another rounding is no rounding."""
    case = _case(SOURCE.format(result="(x > 0).float()"))
    problem = Problem(name="p", source=SOURCE, workloads=(Workload(name="w"),))
    leapt = case.native[0].clone()
    leapt[3, 3] = 1 - leapt[3, 3]
    monkeypatch.setattr(comparison, "rounded_at_random", lambda case: [[leapt]])
    monkeypatch.setattr(comparison, "HOPELESS", float("inf"))
    assert not compare([leapt], case, problem).passed
    monkeypatch.setattr(comparison, "_is_rounding", lambda own, oracle: True)
    assert compare([leapt], case, problem).passed


def test_an_offset_buys_no_narrow_exponentials() -> None:
    source = SOURCE.format(result="torch.softmax(x.repeat(16, 32).tanh() * 2 + 1000, -1)")
    case = _case(source)
    problem = Problem(name="p", source=source, workloads=(Workload(name="w"),))
    narrow = (case.values[0].repeat(16, 32).tanh() * 2).exp().half().float()
    assert not compare([narrow / narrow.sum(-1, keepdim=True)], case, problem).passed


@pytest.mark.parametrize("scale", [6.0, 20.0])
def test_gradients_of_zero_are_no_lost_digits(scale: float) -> None:
    case = _case(ATTENTION, lambda x: (scale * x).half(), backward=True)
    out, _, _, last = case.native
    zero = torch.zeros_like(case.values[0])
    assert not loses_digits_alone([out, zero, zero, last], case, gradients=True)


def test_a_result_whose_shape_hangs_on_a_last_digit_is_left_alone() -> None:
    source = SOURCE.format(
        result="torch.unique((x.repeat(64, 8) * 0.1).tanh().round(decimals=3) * 0.5 + 0.1 * x[0, 0])"
    )
    case = _case(source)
    problem = Problem(name="p", source=source, workloads=(Workload(name="w"),))
    assert not compare([case.native[0] * (1 + 1e-4)], case, problem).passed
    assert all(run[0].shape == case.native[0].shape for run in rounded_at_random(case))


def test_where_few_numbers_are_most_of_a_result_and_some_are_infinite_digits_are_still_lost() -> None:
    """exp(x) as exp2(x log2(e)), whose error in the one large number is about ninety last digits."""

    def large(x: torch.Tensor, place: int) -> torch.Tensor:
        x[0, 0], x[0, 1] = 21.9 + place / 200, 23.0
        return x

    for place in range(50):
        case = _case(SOURCE.format(result="0.3 * torch.exp(4.0 * x)"), lambda x, place=place: large(x, place))
        assert not bool(case.native[0].isfinite().all())
        x = case.values[0]
        problem = Problem(name="p", source=SOURCE, workloads=(Workload(name="w"),))
        assert compare([0.3 * (x * 5.770780163555854).exp2()], case, problem).passed
        narrow = x.bfloat16().float()
        assert compare([0.3 * torch.exp(4.0 * narrow)], case, problem).passed == bool(narrow[0, 0] == x[0, 0])


@pytest.mark.parametrize(
    ("function", "kernel"),
    [
        ("cosh", lambda x: (_exp2(x) + _exp2(-x)) / 2),
        ("sinh", lambda x: (_exp2(x) - _exp2(-x)) / 2),
        ("expm1", lambda x: _exp2(x) - 1),
    ],
)
def test_whoever_makes_an_exponential_of_powers_of_two_is_right(
    function: str, kernel: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    source = SOURCE.format(result=f"torch.{function}(x)").replace("randn(16, 8)", "randn(8, 8, 8, 8)")
    case = _case(source, lambda x: (20 * x).clamp(-85, 85))
    problem = Problem(name="p", source=source, workloads=(Workload(name="w"),))
    assert compare([kernel(case.values[0])], case, problem).passed
    assert not compare([kernel(case.values[0]) * (1 + 2.0**-12)], case, problem).passed


def _exp2(x: torch.Tensor) -> torch.Tensor:
    return torch.exp2(x * 1.4426950216293335)  # log2(e) as a float32
