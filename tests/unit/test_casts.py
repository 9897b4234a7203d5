"""Casts within a reference are roundings of its own: the oracle makes none, but where something hangs on them."""

from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, w", "torch.randn(64, 96), torch.randn(96, 32)")
Made = Callable[..., Setting]


@pytest.fixture
def setting_of(prepared: Made) -> Made:
    return lambda result: prepared(SOURCE.format(result=result))


@pytest.mark.parametrize(
    "result",
    [
        "(x.half() @ w.half()).float()",
        "(x.bfloat16() @ w.to(torch.bfloat16)).to(x.dtype)",
        "(x.type(torch.HalfTensor) @ w.type_as(x).half()).type_as(x)",
        "torch.matmul(x.to(torch.float32), w.float())",
        "torch.empty(64, 32, dtype=torch.float16).copy_(x @ w).float()",
    ],
)
def test_the_oracle_makes_none(setting_of: Made, result: str) -> None:
    setting = setting_of(result)
    case = setting.bases[0]
    x, w = (value.double() for value in case.values)
    assert setting.double is not None
    assert not setting.reference.notes
    torch.testing.assert_close(case.oracle[0], x @ w, rtol=1e-12, atol=1e-12)


def test_whoever_rounds_less_often_is_right_and_nobody_more_often(setting_of: Made) -> None:
    setting = setting_of("torch.softmax((x.half() @ w.half()).float(), -1, dtype=torch.float32) * x[:, :32]")

    def passes(kernel: Callable[..., object]) -> bool:
        case = setting.bases[0]
        return compare([kernel(*case.values)], case, setting.reference.problem).passed

    assert passes(lambda x, w: torch.softmax(x @ w, -1) * x[:, :32])
    assert passes(lambda x, w: torch.softmax(x.half().float() @ w.half().float(), -1) * x[:, :32])
    assert not passes(lambda x, w: torch.softmax((x.bfloat16() @ w.bfloat16()).float(), -1) * x[:, :32])


@pytest.mark.parametrize(
    "result",
    [
        pytest.param("torch.where(x.half().float() == x, 0.0, x) @ w", id="asks what is lost"),
        pytest.param("(x - x.half().float()) @ w", id="is what is lost"),
        pytest.param("(x.float().view(torch.int32) & -65536).view(torch.float32) @ w", id="looks at bits"),
        pytest.param("torch.mm(x.half(), w.half()) if x.half().dtype == torch.half else x.foo", id="asks for its type"),
    ],
)
def test_where_something_hangs_on_them_they_are_made(setting_of: Made, result: str) -> None:
    """Whoever does as the reference does is right, and whoever leaves them out is not."""
    setting = setting_of(result)
    case = setting.bases[0]
    assert compare(case.native, case, setting.reference.problem).passed
    assert not compare([(x @ w) * 1.01 for x, w in [case.values]], case, setting.reference.problem).passed


BESIDE = "torch.cat([x[:, :31], (x - x.bfloat16().float()).abs().median(1, keepdim=True).values], 1)"
FEW = "torch.stack([x.abs().mean(), (x - x.bfloat16().float()).abs().mean()])"
RUNS = "((x - x.bfloat16().float()).abs() > 1e-3 * x.abs()).sum(1)"
EQUAL = "(x[:, :48].bfloat16() == (x[:, :48] * 1.001).bfloat16()).sum(1)"


@pytest.mark.parametrize(
    ("result", "wrong"),
    [
        pytest.param(BESIDE, lambda x: torch.cat([x[:, :31], x[:, :1] * 0], 1), id="a column"),
        pytest.param(FEW, lambda x: torch.stack([x.abs().mean(), x.new_zeros(())]), id="one of two numbers"),
        pytest.param(RUNS, lambda x: torch.full((64,), 0), id="counts"),
        pytest.param(EQUAL, lambda x: torch.full((64,), 0), id="what is equal in sixteen bits"),
    ],
)
def test_what_they_leave_is_asked_for_beside_larger_numbers_and_as_integers(
    setting_of: Made, result: str, wrong: Callable[..., object]
) -> None:
    setting = setting_of(result)
    case = setting.bases[0]
    assert compare(case.native, case, setting.reference.problem).passed
    assert not compare([wrong(case.values[0])], case, setting.reference.problem).passed


def test_eight_bits_are_meant(setting_of: Made) -> None:
    setting = setting_of("x.to(torch.float8_e4m3fn).float() @ w")
    case = setting.bases[0]
    x, w = case.values
    assert not compare([x @ w], case, setting.reference.problem).passed
    assert compare([x.to(torch.float8_e4m3fn).float() @ w], case, setting.reference.problem).passed


@pytest.mark.parametrize(
    "drawn",
    [
        "torch.rand(64, 32, generator=g)",
        "torch.rand(64, 32, dtype=torch.float32, generator=g)",
        "torch.normal(0.0, 1.0, (64, 32), generator=g)",
        "torch.empty(64, 32).uniform_(generator=g)",
        "torch.normal(x[:, :32], 1.0, generator=g)",
        "x[:, :32].clone().bernoulli_(0.3, generator=g)",
        "x[:, torch.randint(0, 96, (32,), generator=g)] + torch.randn(32, generator=g).half()",
        "torch.poisson(x[:, :32].abs(), generator=g)",
    ],
)
def test_what_is_drawn_in_the_forward_pass_is_drawn_as_it_was(setting_of: Made, drawn: str) -> None:
    """By a generator of its own, since whoever draws from PyTorch's is not deterministic."""
    setting = setting_of(f"(lambda g: x @ w + {drawn})(torch.Generator().manual_seed(3))")
    case = setting.bases[0]
    assert case.oracle[0].dtype == torch.float64
    torch.testing.assert_close(case.oracle[0].float(), case.native[0], rtol=1e-3, atol=1e-3)
    assert not compare([torch.zeros(64, 32)], case, setting.reference.problem).passed
