"""The oracle is the function that the reference is, of wider numbers: its limits are the reference's own."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from kernwright.evaluation.problem.own_limits import limits_of, own_type  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

KNOWN = torch.finfo
FLOAT32, FLOAT64 = torch.finfo(torch.float32), torch.finfo(torch.float64)
ODD = torch.tensor([float("nan"), float("inf"), -float("inf"), 1.5], dtype=torch.float64)


def test_what_asks_for_limits_hears_its_own() -> None:
    with limits_of(torch.float32):
        assert torch.finfo(torch.float64).min == FLOAT32.min
        assert torch.finfo().eps == FLOAT32.eps
        assert torch.finfo(torch.float16).max == 65504
    assert torch.finfo is KNOWN
    with limits_of(torch.float64):
        assert torch.finfo(torch.float64).min == FLOAT64.min


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.nan_to_num(x),
        lambda x: torch.nan_to_num(input=x),
        lambda x: x.nan_to_num(0.0),
        lambda x: x.clone().nan_to_num_(),
        lambda x: torch.nan_to_num(x, nan=0.0, neginf=None),
    ],
)
def test_infinities_become_its_largest(call: Callable[[Any], Any]) -> None:
    with limits_of(torch.float32):
        assert call(ODD).tolist() == [0.0, FLOAT32.max, FLOAT32.min, 1.5]
    assert call(ODD).tolist() == [0.0, FLOAT64.max, FLOAT64.min, 1.5]


def test_what_is_said_counts() -> None:
    with limits_of(torch.float32):
        assert torch.nan_to_num(ODD, 2.0, 3.0, -4.0).tolist() == [2.0, 3.0, -4.0, 1.5]
        assert torch.nan_to_num(ODD, posinf=3.0).tolist() == [0.0, 3.0, FLOAT32.min, 1.5]
        assert torch.nan_to_num(ODD.half()).tolist() == [0.0, 65504.0, -65504.0, 1.5]


@pytest.mark.parametrize("own", [torch.float32, torch.float16, torch.bfloat16])
def test_a_norm_without_an_epsilon_has_the_one_that_it_has(own: Any) -> None:
    small = torch.full((1, 4), 1e-4)
    with limits_of(own):
        for wide in (F.rms_norm(small.double(), (4,)), torch.nn.RMSNorm(4).double()(small.double())):
            torch.testing.assert_close(wide.detach(), F.rms_norm(small.to(own), (4,)).double(), rtol=1e-2, atol=0)
        torch.testing.assert_close(F.rms_norm(small.double(), (4,), eps=0.0), torch.ones(1, 4, dtype=torch.float64))


def test_of_several_types_it_is_the_wider() -> None:
    half, single, whole = torch.ones(2).half(), torch.ones(2), torch.ones(2).long()
    assert own_type([half, single], torch.float64) == torch.float32
    assert own_type([whole, half, 3], torch.float32) == torch.float16
    assert own_type([whole], torch.bfloat16) == torch.bfloat16
    assert own_type([single.to(torch.complex64)], torch.float32) == torch.complex64


@pytest.mark.parametrize(
    "forward",
    [
        "x.masked_fill(x > 0, torch.finfo(x.dtype).min)",
        "torch.nan_to_num(x / 0)",
        "torch.distributions.Bernoulli(probs=(x > 0).to(x.dtype)).log_prob((x > 1).to(x.dtype))",
    ],
)
def test_the_oracle_is_what_the_reference_is(prepared: Callable[..., Setting], forward: str) -> None:
    base = prepared(one_line("x", "torch.randn(8, 16)", forward)).bases[0]
    assert base.oracle[0].dtype == torch.float64
    torch.testing.assert_close(base.oracle[0], base.native[0].double(), rtol=1e-6, atol=1e-6)
