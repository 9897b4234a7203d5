"""What additions leave of one sum whose terms cancel: any order of them is right, shorter terms are not."""

from collections.abc import Callable, Iterator

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.cancelling import left_of_terms  # noqa: E402
from kernwright.evaluation.cases import Case, Values  # noqa: E402
from kernwright.evaluation.comparison import compare  # noqa: E402
from kernwright.evaluation.reference import Reference  # noqa: E402

SOURCE = """
import torch
def get_inputs():
    return [torch.randn({n}), torch.randn({n})]
class Model(torch.nn.Module):
    def forward(self, x, y):
        return (x * y).sum()
"""


def _problem(n: int) -> Problem:
    return Problem(name="p", source=SOURCE.format(n=n), workloads=(Workload(name="w"),))


def _cases(problem: Problem, draws: int) -> Iterator[Case]:
    reference, workload = Reference(problem), problem.workloads[0]
    model = reference.model(workload, [], 0, None)
    double = reference.widened(model, reference.inputs(workload, 0))
    for seed in range(draws):
        yield reference.case(model, double, reference.inputs(workload, seed), "by hand", seed)


def _in_one_register(values: Values) -> torch.Tensor:
    x, y = (value.numpy() for value in values)
    return torch.tensor(np.cumsum(x * y, dtype=np.float32)[-1])


def _of_short_numbers(values: Values) -> torch.Tensor:
    x, y = values
    return (x.bfloat16() * y.bfloat16()).float().sum()


def _accepted(kernel: Callable[[Values], torch.Tensor], draws: int) -> int:
    problem = _problem(262144)
    return sum(compare([kernel(case.values)], case, problem).passed for case in _cases(problem, draws))


def test_terms_added_up_in_one_register_are_right_on_every_draw() -> None:
    assert _accepted(_in_one_register, 100) == 100


def test_shorter_terms_are_refused_on_nearly_every_draw() -> None:
    assert _accepted(_of_short_numbers, 20) <= 4


def test_what_is_left_goes_by_the_terms_and_not_by_which_draw_it_is() -> None:
    problem = _problem(4096)
    left = sorted(left_of_terms(case, problem, 0) for case in _cases(problem, 60))
    assert left[-1] < 4 * left[0]
