"""The error rule, on outputs made by hand."""

import math
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Rules, Tolerance, Workload  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict, compare  # noqa: E402
from kernwright.evaluation.errors.nearness import STRETCH  # noqa: E402
from kernwright.evaluation.problem.cases import Ready  # noqa: E402


def _problem(**rules: object) -> Problem:
    return Problem(name="p", source="", workloads=(Workload(name="w"),), rules=Rules(**rules))


def _compared(got: torch.Tensor, true: torch.Tensor, problem: Problem | None = None, **own: torch.Tensor) -> Verdict:
    native = own.get("native", true.to(got.dtype))
    case = Ready(values=[true.real.float()], native=[native], oracle=[true], label="by hand", seed=0)
    return compare([got], case, problem or _problem())


TRUE = torch.randn(64, 4097, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_float32_rounding_passes() -> None:
    assert _compared(TRUE.float(), TRUE).passed


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_lower_precision_inside_fails_unless_the_rules_allow_it(dtype: torch.dtype) -> None:
    rounded = TRUE.to(dtype).float()
    verdict = _compared(rounded, TRUE)
    assert not verdict.passed
    assert verdict.ratio > 1
    assert _compared(rounded, TRUE, _problem(reduced_precision=True)).passed


@pytest.mark.parametrize("place", [(0, 0), (63, 4096), (31, STRETCH % 4097)])
def test_one_wrong_element_is_found_and_named(place: tuple[int, int]) -> None:
    got = TRUE.float()
    got[place] += 0.01
    verdict = _compared(got, TRUE)
    assert not verdict.passed
    assert f"output 0 at {list(place)}" in verdict.detail


def test_zero_is_wrong_however_small_the_oracle_is() -> None:
    small = TRUE * 1e-20
    assert not _compared(torch.zeros_like(small, dtype=torch.float32), small).passed


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_wrong_where_the_oracle_is_finite(value: float) -> None:
    got = TRUE.float()
    got[5, 7] = value
    assert not _compared(got, TRUE).passed


def test_infinities_and_nans_pass_where_the_oracle_has_them() -> None:
    true = TRUE.clone()
    true[0, 0], true[1, 1], true[2, 2] = math.inf, -math.inf, math.nan
    assert _compared(true.float(), true).passed
    other = true.float()
    other[0, 0] = -math.inf
    verdict = _compared(other, true)
    assert not verdict.passed
    assert "[0, 0]" in verdict.detail
    wrong_elsewhere = true.float()
    wrong_elsewhere[9, 9] += 1
    assert "[9, 9]" in _compared(wrong_elsewhere, true).detail


def test_pytorchs_own_error_widens_what_is_allowed() -> None:
    own = (TRUE * (1 + 1e-3)).float()
    assert _compared((TRUE * (1 - 2e-3)).float(), TRUE, native=own).passed
    assert not _compared((TRUE * (1 - 2e-2)).float(), TRUE, native=own).passed


def test_integers_are_compared_exactly() -> None:
    true = torch.arange(12).reshape(3, 4)
    assert _compared(true.clone(), true, native=true).passed
    got = true.clone()
    got[2, 3] = 0
    assert "expected 11, got 0" in _compared(got, true, native=true).detail


def test_tolerance_of_the_problem_counts() -> None:
    loose = Problem(name="p", source="", workloads=(), tolerance=Tolerance(epsilon_factor=4e4))
    assert _compared(TRUE.to(torch.bfloat16).float(), TRUE, loose).passed


ELEMENTWISE = Problem(name="p", source="", workloads=(), tolerance=Tolerance(reduction=1))


def _narrow(dtype: torch.dtype, largest: float) -> torch.Tensor:
    """Many positive numbers, whose sum is far beyond the type's largest."""
    generator = torch.Generator().manual_seed(2)
    return (torch.rand(STRETCH * 2 + 5, generator=generator) * largest).to(dtype)


@pytest.mark.parametrize(("dtype", "largest"), [(torch.float16, 6e4), (torch.bfloat16, 3e38)])
@pytest.mark.parametrize("wide", [True, False])
def test_large_numbers_of_a_narrow_type_are_compared_like_others(
    dtype: torch.dtype, largest: float, wide: bool
) -> None:
    own = _narrow(dtype, largest)
    true = own.double() if wide else own
    assert _compared(own.clone(), true, ELEMENTWISE, native=own).passed
    got = own.clone()
    got[7], got[STRETCH + 3] = 0.0, -own.max()
    got[STRETCH + 2] = -own[STRETCH + 2]
    verdict = _compared(got, true, ELEMENTWISE, native=own)
    assert not verdict.passed
    assert f"output 0 at [{STRETCH + 3}]: " in verdict.detail
    assert math.isfinite(verdict.ratio)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_overflow_in_a_narrow_type_excuses_its_own_element_alone(dtype: torch.dtype) -> None:
    true = _narrow(dtype, 6e4).double()
    true[STRETCH + 1] = 1e39
    own = true.to(dtype)
    got = own.clone()
    got[STRETCH + 1] = 12.0  # PyTorch's own overflows here, so anything goes
    assert _compared(got, true, ELEMENTWISE, native=own).passed
    got[STRETCH * 2] = 0.0
    assert f"[{STRETCH * 2}]" in _compared(got, true, ELEMENTWISE, native=own).detail


def test_complex_numbers_are_compared_by_their_parts() -> None:
    true = torch.complex(TRUE, TRUE.flip(0))
    got = true.to(torch.complex64)
    assert _compared(got, true, native=true.to(torch.complex64)).passed
    got[3, 5] += 0.01j
    assert "output 0 at [3, 5]" in _compared(got, true, native=true.to(torch.complex64)).detail


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_long_sums_in_a_narrow_type_allow_what_one_rounding_explains(dtype: torch.dtype) -> None:
    long = Problem(name="p", source="", workloads=(), tolerance=Tolerance(reduction=1 << 16))
    own = TRUE.to(dtype)
    assert _compared((TRUE * (1 + torch.finfo(dtype).eps)).to(dtype), TRUE, long, native=own).passed
    assert not _compared(torch.zeros_like(own), TRUE, long, native=own).passed
    assert not _compared((TRUE * 1.15).to(dtype), TRUE, long, native=own).passed


def _product(change: Callable[[torch.Tensor, int], torch.Tensor], dtype: torch.dtype, **rules: object) -> Verdict:
    """A product of changed operands, rounded once; `change` is told along which axis a scale may be."""
    generator = torch.Generator().manual_seed(3)
    x, w = (torch.randn(*shape, generator=generator).to(dtype) for shape in ((64, 512), (512, 48)))
    true = x.double() @ w.double()
    case = Ready([x, w], [(x.float() @ w.float()).to(dtype)], [true], "by hand", 0)
    return compare([(change(x, 1).double() @ change(w, 0).double()).to(dtype)], case, _problem(**rules))


def _scaled(tensor: torch.Tensor, axis: int, largest: float) -> tuple[torch.Tensor, torch.Tensor]:
    scale = tensor.double().abs().amax(axis, keepdim=True) / largest
    return tensor.double() / scale, scale


def _eight_bit_float(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    codes, scale = _scaled(tensor, axis, 448)
    return codes.to(torch.float8_e4m3fn).double() * scale


def _eight_bit_integer(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    codes, scale = _scaled(tensor, axis, 127)
    return codes.round() * scale


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_operands_of_eight_bits_are_not_those_of_sixteen(precision: str) -> None:
    dtype = getattr(torch, precision)
    assert _product(lambda t, _: t, dtype, precision=precision).passed
    assert not _product(_eight_bit_float, dtype, precision=precision).passed
    assert not _product(lambda t, axis: _eight_bit_float(t, axis) if axis else t, dtype, precision=precision).passed
    assert not _product(_eight_bit_integer, dtype, precision=precision).passed
    assert not _product(_eight_bit_float, dtype, reduced_precision=True).passed


def test_operands_of_bfloat16_have_fewer_digits_than_those_of_float16() -> None:
    assert not _product(lambda t, _: t.bfloat16(), torch.float16, precision="float16").passed
    assert _product(lambda t, _: t.bfloat16(), torch.float16, reduced_precision=True).passed


def test_no_tolerance_lets_nothing_at_all_pass() -> None:
    boundless = Problem(name="p", source="", workloads=(), tolerance=Tolerance(epsilon_factor=1e9))
    assert not _compared(torch.zeros_like(TRUE, dtype=torch.float32), TRUE, boundless).passed


def _flat(got: torch.Tensor, true: torch.Tensor, fan_in: tuple[float, ...]) -> bool:
    case = Ready([true.float()], [true.float()], [true], "by hand", 0, fan_in)
    return compare([got.float()], case, _problem()).passed


def test_a_long_axis_along_which_nothing_is_added_allows_no_more() -> None:
    true = TRUE.flatten()
    off = true * (1 + 2e-5)
    assert _flat(off, true, ())  # as the root of 262,208 additions would
    assert _flat(true, true, (1.0,))
    assert not _flat(off, true, (1.0,))


def test_an_error_that_is_allowed_anyway() -> None:
    small = TRUE * 1e-6
    case = Ready([small.float()], [small.float()], [small], "by hand", 0)
    off = [(small + 5e-9).float()]
    assert not compare(off, case, _problem()).passed
    assert compare(off, case, _problem(), floors=[5e-9 * 1.01]).passed


def test_one_number_from_millions_is_not_estimated_from_half_of_them() -> None:
    n, generator = 1 << 26, torch.Generator().manual_seed(4)
    values, true = torch.empty(n, device="meta"), torch.tensor([1.128379], dtype=torch.float64)

    def right(error: float, own: float = 1e-7) -> bool:
        native = (true * (1 + own)).float()
        case = Ready(values=[values], native=[native], oracle=[true], label="by hand", seed=0)
        return compare([(true * (1 + error)).float()], case, _problem()).passed

    estimated = [float(torch.randn((), generator=generator)) * 0.756 / math.sqrt(n) for _ in range(200)]
    assert sum(map(right, estimated)) < 60
    # One chain of 65,536 additions in float32, and eight times what PyTorch does.
    assert all(right(sign * 6e-8 * 256 / 3 * 4) for sign in (1, -1))
    assert right(8e-5, own=1e-5)
    assert not right(2e-4, own=1e-5)


def test_a_sum_beside_a_large_result_may_be_added_up_as_one_alone() -> None:
    x = torch.randn(1024, 1024, generator=torch.Generator().manual_seed(5))
    case = Ready([x], [2 * x, (x * x).mean()], [2 * x.double(), (x.double() ** 2).mean()], "by hand", 0)
    lanes = torch.zeros(8)
    for part in (x * x).view(-1, 8):
        lanes = lanes + part
    assert compare([2 * x, lanes.sum() / x.numel()], case, _problem()).passed
    assert not compare([2 * x, (x[:1000] ** 2).sum() / x.numel()], case, _problem()).passed
