"""A result of 16 bits does not hide that what it is made of was rounded to as few."""

from collections.abc import Callable

import pytest
import torch

from kernwright.core.problem import Problem, Rules, Workload
from kernwright.evaluation.errors.comparison import compare
from kernwright.evaluation.errors.early_rounding import rounded_early
from kernwright.evaluation.problem.cases import Asked, Ready

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def verdict(reference: Function, kernel: Function, rules: Rules, *, scale: float = 1.0, asked: bool = False) -> bool:
    torch.manual_seed(7)
    values = [torch.randn(128, 300) * scale + scale, torch.randn(300, 300) / 17]
    native, oracle = reference(*values), reference(*(v.double() for v in values))
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),), rules=rules)
    case = (
        Asked([*values], [native], "", 0, lambda: [oracle.double()])
        if asked
        else Ready([*values], [native], [oracle.double()], "", 0)
    )
    return compare([kernel(*values)], case, problem).passed


def product(dtype: torch.dtype) -> Function:
    return lambda x, w: x @ w if x.dtype == torch.float64 else (x @ w).to(dtype)


def normal(dtype: torch.dtype) -> Function:
    def norm(x: torch.Tensor, _w: torch.Tensor) -> torch.Tensor:
        y = (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
        return y if x.dtype == torch.float64 else y.to(dtype)

    return norm


def one_pass(dtype: torch.dtype) -> Function:
    def norm(x: torch.Tensor, _w: torch.Tensor) -> torch.Tensor:
        mean = x.sum(-1, keepdim=True) / x.shape[-1]
        return ((x - mean) * torch.rsqrt((x * x).mean(-1, keepdim=True) - mean * mean + 1e-5)).to(dtype)

    return norm


def halves(dtype: torch.dtype) -> Function:
    return lambda x, w: (x[:, 150:].flip(1) @ w[150:].flip(0) + x[:, :150] @ w[:150]).to(dtype)


NARROW = (torch.bfloat16, torch.float16)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("dtype", NARROW)
def test_operands_that_were_rounded_before_are_told(dtype: torch.dtype, asked: bool) -> None:
    early = lambda x, w: x.to(dtype) @ w.to(dtype)  # noqa: E731
    assert not verdict(product(dtype), early, Rules(), asked=asked)
    assert verdict(product(dtype), early, Rules(reduced_precision=True), asked=asked)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(("reference", "kernel"), [(product, halves), (normal, one_pass)])
def test_float32_inside_is_not(
    reference: Callable[[torch.dtype], Function],
    kernel: Callable[[torch.dtype], Function],
    dtype: torch.dtype,
    scale: float,
    asked: bool,
) -> None:
    assert verdict(reference(dtype), kernel(dtype), Rules(), scale=scale, asked=asked)


def loud(function: Function) -> Function:
    """One row of the first operand is much larger than the others."""

    def with_one(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return function(torch.cat([256 * x[:1], x[1:]]), w)

    return with_one


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("dtype", NARROW)
def test_one_exact_row_that_is_larger_than_all_others_hides_nothing(dtype: torch.dtype, asked: bool) -> None:
    def early(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.cat([(x[:1] @ w).to(dtype), x[1:].to(dtype) @ w.to(dtype)])

    assert not verdict(loud(product(dtype)), loud(early), Rules(), asked=asked)
    assert verdict(loud(product(dtype)), loud(early), Rules(reduced_precision=True), asked=asked)
    assert verdict(loud(product(dtype)), loud(halves(dtype)), Rules(), asked=asked)


@pytest.mark.parametrize(
    "kernel", [lambda a, b: torch.log(1 + (a - b).float().abs()), lambda a, b: (a - b).float().abs().log1p()]
)
def test_float32_inside_a_result_in_float32_is_right_where_inputs_are_float64(kernel: Function) -> None:
    torch.manual_seed(7)
    values = [torch.randn(200_000, dtype=torch.float64) for _ in range(2)]
    oracle = (values[0] - values[1]).abs().log1p()
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    for case in (
        Ready(values, [oracle.float()], [oracle], "", 0),
        Asked(values, [oracle.float()], "", 0, lambda: [oracle]),
    ):
        assert compare([kernel(*values)], case, problem).passed


MASK = torch.full((128, 300), -torch.inf).triu(1)


@pytest.mark.parametrize("dtype", NARROW)
def test_masked_numbers_hide_nothing(dtype: torch.dtype) -> None:
    def masked(function: Function) -> Function:
        return lambda x, w: (function(x, w) + MASK).to(torch.float64 if x.dtype == torch.float64 else dtype)

    whole = masked(lambda x, w: x @ w)
    assert not verdict(whole, masked(lambda x, w: x.to(dtype).float() @ w.to(dtype).float()), Rules())
    assert verdict(whole, masked(lambda x, w: x[:, 150:] @ w[150:] + x[:, :150] @ w[:150]), Rules())


def test_operands_of_tf32_are_told_under_bfloat16() -> None:
    def cut(x: torch.Tensor) -> torch.Tensor:
        return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)

    assert not verdict(product(torch.bfloat16), lambda x, w: (cut(x) @ cut(w)).bfloat16(), Rules())


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    ("reference", "kernel"),
    [
        (torch.nn.functional.silu, lambda x: 0.5 * x * (1 + torch.tanh(x / 2))),
        (torch.sigmoid, lambda x: 1 - 1 / (1 + x.exp())),
        (torch.nn.functional.softplus, lambda x: (1 + x.exp()).log()),
    ],
)
def test_what_float32_loses_of_numbers_that_are_nearly_0_counts_for_nothing(
    reference: Callable[[torch.Tensor], torch.Tensor],
    kernel: Callable[[torch.Tensor], torch.Tensor],
    dtype: torch.dtype,
) -> None:
    def about_0(function: Callable[[torch.Tensor], torch.Tensor]) -> Function:
        return lambda x, _w: function(x - 16).to(torch.float64 if x.dtype == torch.float64 else dtype)

    assert verdict(about_0(reference), about_0(kernel), Rules(), scale=16)


def test_nothing_is_asked_beside_an_error_that_is_allowed_anyway() -> None:
    x = torch.randn(128, 256) * 1e-4
    case = Ready([x], [x.tanh().half()], [x.double().tanh()], "", 0)
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    other = (2 / (1 + (-2 * x).exp()) - 1).half()
    assert rounded_early(other, case.native[0], case.oracle[0], case, problem) > 1
    assert rounded_early(other, case.native[0], case.oracle[0], case, problem, floor=1e-8) == 0.0


def test_few_numbers_that_are_not_0_tell_nothing() -> None:
    x = torch.zeros(64, 64)
    x[0, :4] = torch.tensor([0.3, 0.7, -0.4, 0.9])
    case = Ready([x], [x.half()], [x.double()], "", 0)
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    other = case.native[0].clone()
    other[0, 2] = torch.nextafter(other[0, 2], torch.zeros((), dtype=torch.float16))
    assert rounded_early(other, case.native[0], case.oracle[0], case, problem) == 0.0


def test_a_reference_that_rounds_early_itself_may_be_followed() -> None:
    early = lambda x, w: (x.bfloat16() @ w.bfloat16()).to(torch.bfloat16)  # noqa: E731
    assert verdict(lambda x, w: x @ w if x.dtype == torch.float64 else early(x, w), early, Rules())


def test_numbers_that_the_type_holds_exactly_tell_nothing() -> None:
    ones = lambda x, _w: torch.sign(x) if x.dtype == torch.float64 else torch.sign(x).bfloat16()  # noqa: E731
    assert verdict(ones, ones, Rules())
