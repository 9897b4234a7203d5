"""Within which bounds all draws of an input lie: on one side of 0, and of 1. Values that the judge makes up do too."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

LEAST = 24
"""Numbers that are no chance when they all have one sign."""
NEAR_ONE = 0.5
"""The largest must be beyond this for 1 to be what bounds them."""
FEW = 1 / 16
"""Up to this share of numbers beyond 1 are brought to the largest that was drawn; where there are more, all shrink."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Of one input. Logarithms, roots and decays are made of such numbers."""

    sign: int
    """Of all numbers that are not 0."""
    nonzero: bool
    least: float
    """The smallest size that was drawn beside 0."""
    most: float | None
    """The largest size that was drawn, where none is beyond 1."""

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The sizes of the numbers, within these bounds."""
        size = value.abs()
        if self.most is not None:
            size = self._shrunk(size, self.most)
        if self.nonzero:
            some = size[size > 0]
            least = float(some.amin()) if some.numel() else self.least
            size = torch.where(size == 0, least, size)
        return size * self.sign

    def _shrunk(self, size: torch.Tensor, most: float) -> torch.Tensor:
        beyond = size > most if most < 1 else size > 1
        finite = size[torch.isfinite(size)]
        largest = float(finite.amax()) if finite.numel() else 1.0
        if largest > most and int(beyond.sum()) > FEW * size.numel():
            size = size * (most / largest)
        return size.clamp_max(most)

    def described(self) -> str:
        """In words."""
        side = ("positive" if self.sign > 0 else "negative") if self.nonzero else ""
        side = side or ("never negative" if self.sign > 0 else "never positive")
        return f"its numbers are {side}" + ("" if self.most is None else " and no larger than 1")


def extent_of(values: Sequence[torch.Tensor]) -> Extent | None:
    """None where both signs come, or few numbers, or nothing but zeros."""
    if values[0].is_complex() or sum(value.numel() for value in values) < LEAST:
        return None
    bounds = [tuple(map(float, value.aminmax())) for value in values]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    if not (low >= 0 or high <= 0) or low == high:
        return None
    sizes = [value.abs() for value in values]
    least = min(float(torch.where(size > 0, size, torch.inf).amin()) for size in sizes)
    most = max(high, -low)
    nonzero = all(bool((size > 0).all()) for size in sizes)
    return Extent(1 if low >= 0 else -1, nonzero, least, most if NEAR_ONE < most <= 1 else None)
