"""One kernel tells how far results are from others, and tells what PyTorch's operators do."""

import math

import pytest
import torch

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that PyTorch can use"),
]


@pytest.fixture(scope="module")
def told_of():
    from kernwright.platforms.cuda_distance import Distance

    torch.zeros(1, device="cuda")
    measure = Distance(torch.cuda.current_device())

    def told(got: torch.Tensor, own: torch.Tensor) -> list[float]:
        found = measure(got, own)
        assert found is not None
        return found.tolist()

    return told


def _by_operators(got: torch.Tensor, own: torch.Tensor) -> list[float]:
    off, size = (got.double() - own.double()), own.double()
    share = torch.where(off == 0, 0.0, (off / size).abs())
    numbers = off.square().sum(), off.abs().max(), size.square().sum(), size.abs().max(), share.max()
    return [float(number) for number in numbers]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("count", [1, 3, 8, 1001, 4096 * 4096 + 5])
def test_it_tells_what_operators_do(told_of, dtype: torch.dtype, count: int) -> None:
    own = torch.randn(count, device="cuda").to(dtype)
    got = (own.float() * (1 + 1e-2 * torch.randn(count, device="cuda"))).to(dtype)
    for seen, expected in zip(told_of(got, own), _by_operators(got, own), strict=True):
        assert seen == pytest.approx(expected, rel=1e-3)
    assert told_of(own, own.clone())[:2] == [0.0, 0.0]
    assert told_of(own, own.clone())[4] == 0.0


def test_what_is_no_number_is_told_of_wherever_it_lies(told_of) -> None:
    own = torch.randn(100_003, device="cuda")
    for place in (0, 5, 50_000, 100_002):
        for odd in (math.nan, math.inf, -math.inf):
            got = own.clone()
            got[place] = odd
            squares, most, size, largest, share = told_of(got, own)
            assert not math.isfinite(squares)
            assert not math.isfinite(most)
            assert not math.isfinite(share)
            assert math.isfinite(size)
            assert largest == pytest.approx(float(own.abs().max()))


def test_a_number_where_there_is_none_is_off_by_all(told_of) -> None:
    own = torch.zeros(4096, device="cuda")
    got = own.clone()
    got[17] = 1e-30
    assert told_of(got, own)[4] == math.inf
    assert told_of(own, got)[4] == pytest.approx(1.0)


def test_what_lies_otherwise_is_for_operators() -> None:
    from kernwright.platforms.cuda_distance import Distance

    measure, own = Distance(torch.cuda.current_device()), torch.randn(64, 64, device="cuda")
    assert measure(own.T, own) is None
    assert measure(own.double(), own.double()) is None
    assert measure(own.flatten()[1:], own.flatten()[1:]) is None
    assert measure(own.half(), own) is None
