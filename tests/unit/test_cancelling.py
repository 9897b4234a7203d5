"""What additions leave of one sum whose terms cancel: any order of them is right, shorter terms are not."""

from collections.abc import Callable, Iterator

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.errors.cancelling import Left  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.terms import REDUCTIONS  # noqa: E402
from kernwright.evaluation.problem.cases import Case, Values  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.wider import oracle_for  # noqa: E402

SOURCE = """
import torch
def get_inputs():
    return [{inputs}, {inputs}]
class Model(torch.nn.Module):
    def forward(self, x, y):
        return {result}
"""


def _problem(inputs: str, result: str = "(x * y).sum()") -> Problem:
    return Problem(name="p", source=SOURCE.format(inputs=inputs, result=result), workloads=(Workload(name="w"),))


DOT = _problem("torch.randn(262144)")
COSH = _problem("10 * torch.randn(262144)", "x.cosh().sum() + 0 * y[0]")
FAR = _problem("1e5 + torch.randn(65536)", "((x - y) ** 2).mean()")


def _cases(problem: Problem, draws: int, change: Callable[[Values], Values] = lambda values: values) -> Iterator[Case]:
    reference, workload = Reference(problem), problem.workloads[0]
    model = reference.model(workload, [], 0, None)
    double = oracle_for(reference, model, reference.inputs(workload, 0))
    for seed in range(draws):
        yield reference.case(model, double, change(reference.inputs(workload, seed)), "by hand", seed)


def _in_one_register(values: Values) -> torch.Tensor:
    x, y = (value.numpy() for value in values)
    return torch.tensor(np.cumsum(x * y, dtype=np.float32)[-1])


def _of_short_numbers(values: Values) -> torch.Tensor:
    x, y = values
    return (x.bfloat16() * y.bfloat16()).float().sum()


def _accepted(kernel: Callable[[Values], torch.Tensor], draws: int, problem: Problem = DOT) -> int:
    return sum(compare([kernel(case.values)], case, problem).passed for case in _cases(problem, draws))


def test_terms_added_up_in_one_register_are_right_on_every_draw() -> None:
    assert _accepted(_in_one_register, 100) == 100


def test_shorter_terms_are_refused_on_nearly_every_draw() -> None:
    assert _accepted(_of_short_numbers, 10) <= 3


def _nearly_nothing(values: Values) -> Values:
    """One element is what it takes for a ninth to be left."""
    x, y = (value[:65536] for value in values)
    x = x + 4
    x[0] = 1.0
    y[0] = 0.112 - (x[1:].double() * y[1:].double()).sum()
    return [x, y]


def test_what_is_next_to_nothing_by_chance_is_known_to_few_digits() -> None:
    """Of a thousandth of the usual size, an error of five hundredths was refused."""
    cases = [*_cases(DOT, 30, _nearly_nothing)]
    for kernel in (_in_one_register, lambda values: values[0] @ values[1]):
        assert all(compare([kernel(case.values)], case, DOT).passed for case in cases)
    assert not any(compare([torch.zeros(())], case, DOT).passed for case in cases)
    assert sum(compare([_of_short_numbers(case.values)], case, DOT).passed for case in cases) <= 3


def _few_digits_of_an_exponential(values: Values) -> torch.Tensor:
    power = values[0].abs().double() * 1.44269504
    rest = power - power.floor()
    near = (0.337164778 * rest + 0.657595238) * rest + 1.001668278
    large = near * 2.0 ** power.floor()
    return ((large + 1 / large).sum() / 2).float()


def _half(values: Values) -> torch.Tensor:
    x, y = (value[::2] for value in values)
    return ((x - y) ** 2).mean()


def test_what_moves_a_result_far_is_no_addition() -> None:
    """Conditions of a function beside its arguments' last digits, which no sum loses."""
    assert _accepted(_few_digits_of_an_exponential, 12, COSH) <= 4
    assert _accepted(_half, 12, FAR) <= 4


def test_what_is_left_goes_by_the_terms_and_not_by_which_draw_it_is() -> None:
    problem = _problem("torch.randn(4096)")
    left = sorted(Left(case, problem, 0).rms for case in _cases(problem, 60))
    assert left[-1] < 4 * left[0]


@pytest.mark.parametrize(
    "result",
    [
        *("x.sum()", "x.mean()", "x[0] @ y[0]", "(x[0] @ y).sum()", "torch.addmm(x, x, y)[:1, :1]", "x.trace()"),
        *("torch.einsum('ij,ij->', x, y)", "torch.nn.functional.conv1d(x[None], y[None])", "x.cumsum(1)[:1, -1]"),
        *("torch.zeros(1).index_add_(0, torch.zeros(256, dtype=torch.int64), x.flatten())", "torch.linalg.det(x)"),
        *("torch.nn.functional.cosine_similarity(x[:1], y[:1])", "torch.fft.fft(x)[0, :2]", "(x - y).mean(0)"),
        *("torch.nn.functional.bilinear(x, y, x[None])", "torch.linalg.cross(x[0, :3], y[0, :3])", "(x @ y).trace()"),
    ],
)
def test_terms_are_found_wherever_they_are_added_up(result: str) -> None:
    """So much that float32 in any order is right, and so little that float16 is not."""
    problem = _problem("torch.randn(16, 16)", result)
    for case in _cases(problem, 3):
        left, size = Left(case, problem, 0).rms, float(case.oracle[0].abs().max())
        assert 2**-24 < left / max(size, 1) < 2**-12


def test_every_operator_is_known() -> None:
    known = {name.removeprefix("aten::").split(".")[0].strip("_") for name in torch._C._dispatch_get_all_op_names()}
    assert REDUCTIONS.keys() <= known
