"""Errors as shares of the largest number, whatever the type."""

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.gross import is_bearable, largest_share, share, size  # noqa: E402


def test_truth_values_differ_or_not() -> None:
    one, other = torch.tensor([True, False]), torch.tensor([True, True])
    assert share(one, one) == 0
    assert share(one, other) == share(other, one) == 1
    assert is_bearable([one], [one])
    assert not is_bearable([one], [other])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_small_integers_do_not_wrap_around(dtype: torch.dtype) -> None:
    low, high = torch.tensor([0, 100], dtype=dtype), torch.tensor([1, 100], dtype=dtype)
    assert share(low, high) == share(high, low) == 0.01
    assert share(torch.tensor([-128], dtype=torch.int8), torch.tensor([127], dtype=torch.int8)) > 1


def test_numbers_are_as_they_were() -> None:
    assert largest_share([torch.tensor([1.0, 3.0])], [torch.tensor([1.0, 4.0])]) == 0.25
    assert share(torch.tensor([float("nan")]), torch.tensor([1.0])) == float("inf")
    assert share(torch.tensor([2 + 0j]), torch.tensor([2 + 1j])) == pytest.approx(1 / 5**0.5)
    assert size(torch.tensor([3 + 4j, 0j])) == pytest.approx(5 / 2**0.5)
