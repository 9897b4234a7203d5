"""Outputs of which few numbers are nearly all: other orders of additions are right there, what they hide is seen."""

from collections.abc import Callable, Iterator

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.nearness import error_if_near  # noqa: E402
from kernwright.evaluation.errors.tails import counting, tail_of  # noqa: E402
from kernwright.evaluation.problem.cases import Case  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.wider import oracle_for  # noqa: E402

SOURCE = """
import torch
def get_inputs():
    return [torch.randn(2048, 256)]
class Model(torch.nn.Module):
    def forward(self, x):
        return x.std(1) / x.mean(1)
"""
PROBLEM = Problem(name="p", source=SOURCE, workloads=(Workload(name="w"),))
Kernel = Callable[[torch.Tensor], torch.Tensor]


def _cases(draws: int, problem: Problem = PROBLEM) -> Iterator[Case]:
    reference, workload = Reference(problem), problem.workloads[0]
    model = reference.model(workload, [], 0, None)
    double = oracle_for(reference, model, reference.inputs(workload, 0))
    for seed in range(draws):
        yield reference.case(model, double, reference.inputs(workload, seed), "by hand", seed)


def _accepted(kernel: Kernel, draws: int) -> int:
    return sum(compare([kernel(case.values[0])], case, PROBLEM).passed for case in _cases(draws))


def _in_one_register(x: torch.Tensor) -> torch.Tensor:
    return x.std(1) / (x.cumsum(1)[:, -1] / x.shape[1])


def _by_a_product(x: torch.Tensor) -> torch.Tensor:
    return x.std(1) / ((x @ torch.ones(x.shape[1], 1))[:, 0] / x.shape[1])


@pytest.mark.parametrize("kernel", [_in_one_register, _by_a_product])
def test_another_order_of_additions_is_right_on_every_draw(kernel: Kernel) -> None:
    assert _accepted(kernel, 40) == 40


def _of_most_columns(x: torch.Tensor) -> torch.Tensor:
    return x[:, :250].std(1) / x.mean(1)


def _of_tf32(x: torch.Tensor) -> torch.Tensor:
    return (x.view(torch.int32) & -(1 << 13)).view(torch.float32).std(1) / x.mean(1)


def _of_a_short_mean(x: torch.Tensor) -> torch.Tensor:
    return x.std(1) / x.half().float().mean(1)


@pytest.mark.parametrize("kernel", [_of_most_columns, _of_tf32, _of_a_short_mean])
def test_what_few_large_numbers_would_hide_is_seen_on_every_draw(kernel: Kernel) -> None:
    assert _accepted(kernel, 10) == 0


HALF = Problem(
    name="p",
    source="""
import torch
def get_inputs():
    return [torch.randn(64, 16).half(), torch.randn(16, 64).half()]
class Model(torch.nn.Module):
    def forward(self, x, y):
        return 1 / (x @ y)
""",
    workloads=(Workload(name="w"),),
)


def test_sums_in_the_type_of_a_result_are_too_short() -> None:
    """Of a narrow type the rounding of a result is none of its terms'."""
    seen = 0
    for case in _cases(10, HALF):
        x, y = case.values
        total = torch.zeros(64, 64, dtype=torch.float16)
        for number in range(16):
            total = total + x[:, number, None] * y[number]
        assert compare(list(case.native), case, HALF).passed
        seen += not compare([1 / total], case, HALF).passed
    assert seen > 8


def test_numbers_are_counted_by_their_share_of_the_size() -> None:
    assert counting(torch.ones(100)) == pytest.approx(100)
    assert counting(torch.tensor([1e30] + 99 * [1.0])) == pytest.approx(1)
    assert counting(torch.tensor([2.0, 0.0, -2.0])) == pytest.approx(2)
    assert counting(torch.zeros(7)) == 7


def test_a_tail_is_the_largest_of_many_numbers() -> None:
    value = torch.ones(64, 32)
    value[3, 4] = 1e6
    tail = tail_of(value)
    assert tail is not None
    assert tail.nonzero().tolist() == [[3, 4]]
    assert tail_of(torch.randn(64, 32)) is None
    assert tail_of(torch.where(tail, torch.inf, value)) is None
    assert tail_of(value[:8]) is None  # of so few each counts
    assert tail_of(1e200 * value.double()) is None  # squares are more than a float holds
    assert tail_of(1e200 * torch.randn(64, 32).double()) is None


ROWS = Problem(
    name="p",
    source=SOURCE.replace("x.std(1) / x.mean(1)", "x.softmax(1)").replace("randn(2048, 256", "rand(64, 2048"),
    workloads=(Workload(name="w"),),
)


def _with_one_hot_rows() -> Case:
    reference, workload = Reference(ROWS), ROWS.workloads[0]
    values = reference.inputs(workload, 0)
    values[0][5, 7] = values[0][40, 3] = 60.0
    model = reference.model(workload, [], 0, None)
    case = reference.case(model, oracle_for(reference, model, values), values, "by hand", 0)
    assert tail_of(case.oracle[0]) is not None
    return case


def test_no_oracle_is_needed_where_all_but_the_largest_are_near_too() -> None:
    case = _with_one_hot_rows()
    x = case.values[0].double()
    other = (x.exp() / x.exp().sum(1, keepdim=True)).float()
    assert 0 < (error_if_near([other], case, ROWS) or 0) < 0.1


def test_what_is_off_beside_one_hot_rows_is_not_near() -> None:
    """Beside all numbers' size the error would be right, beside the size of all but the largest it is not."""
    case = _with_one_hot_rows()
    off = case.native[0] * (1 + 2.0**-15)
    off[case.native[0] > 0.5] = 1.0
    assert error_if_near([off], case, ROWS) is None
    assert not compare([off], case, ROWS).passed


def _compared(result: str, change: Callable[[torch.Tensor], None], kernel: Kernel) -> bool:
    """Of 40 by 60 normal numbers, changed."""
    source = SOURCE.replace("2048, 256", "40, 60").replace("x.std(1) / x.mean(1)", result)
    problem = Problem(name="p", source=source, workloads=(Workload(name="w"),))
    reference, workload = Reference(problem), problem.workloads[0]
    values = reference.inputs(workload, 0)
    change(values[0])
    model = reference.model(workload, [], 0, None)
    case = reference.case(model, oracle_for(reference, model, values), values, "by hand", 0)
    assert tail_of(case.oracle[0]) is not None
    return compare([kernel(values[0])], case, problem).passed


def _few_are_large(x: torch.Tensor) -> None:
    x[3, 7] = 1e6


def test_errors_go_by_a_large_input() -> None:
    """What one number adds to the errors of all others, by way of a Fourier transform, is right."""

    def by_transform(x: torch.Tensor) -> torch.Tensor:
        return torch.fft.irfft(torch.fft.rfft(x.flatten()) * 3).view_as(x)

    assert _compared("x * 3", _few_are_large, by_transform)


def _logarithms(x: torch.Tensor) -> None:
    x[:2] *= 10
    x[2:] -= 78


def test_numbers_that_are_next_to_nothing_may_count_as_nothing() -> None:
    """Of 120 exponentials few are nearly all, and the others are about 1e-34, where a type has no digits to spare."""

    def flushed(x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        return torch.where(y < 1e-25, 0.0, y)

    assert _compared("x.exp()", _logarithms, flushed)
