"""A result of 16 bits does not hide that what it is made of was rounded to as few."""

from collections.abc import Callable

import pytest
import torch

from kernwright.core.problem import Problem, Rules, Workload
from kernwright.evaluation.cases import Asked, Ready
from kernwright.evaluation.comparison import compare

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


def test_results_of_eight_bits_are_counted_too() -> None:
    def given(function: Function) -> Function:
        return lambda x, w: function(x, w) if x.dtype == torch.float64 else function(x, w).to(torch.float8_e4m3fn)

    whole = loud(lambda x, w: x @ w / 64)
    early = loud(lambda x, w: torch.cat([x[:1] @ w, x[1:].to(torch.float8_e4m3fn).float() @ w]) / 64)
    split = loud(lambda x, w: (x[:, 150:] @ w[150:] + x[:, :150] @ w[:150]) / 64)
    assert not verdict(given(whole), given(early), Rules(), asked=True)
    assert verdict(given(whole), given(split), Rules(), asked=True)


def test_a_reference_that_rounds_early_itself_may_be_followed() -> None:
    early = lambda x, w: (x.bfloat16() @ w.bfloat16()).to(torch.bfloat16)  # noqa: E731
    assert verdict(lambda x, w: x @ w if x.dtype == torch.float64 else early(x, w), early, Rules())


def test_numbers_that_the_type_holds_exactly_tell_nothing() -> None:
    ones = lambda x, _w: torch.sign(x) if x.dtype == torch.float64 else torch.sign(x).bfloat16()  # noqa: E731
    assert verdict(ones, ones, Rules())
