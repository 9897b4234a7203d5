"""Within which bounds all draws of an input lie: away from 0 on one side of it, and of 1. Values that the judge makes
up do too. Numbers that come as near to 0 as chance brings them, like those of `torch.rand`, keep to no side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from kernwright.evaluation.numbers import told

UNLIKELY = 1e-6
"""Chance below which numbers keep away from 0 on purpose, were they spread evenly up to the largest."""
NEAR_ONE = 0.5
"""The largest must be beyond this for 1 to be what bounds them."""
FEW = 1 / 16
"""Up to this share of numbers beyond 1 are brought to the largest that was drawn; where there are more, all shrink."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Of one input. Logarithms, roots and decays are made of such numbers."""

    sign: int
    least: float
    """The smallest size that was drawn."""
    most: float | None
    """The largest size that was drawn, where none is beyond 1."""

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The sizes of the numbers, within these bounds."""
        size = value.abs()
        if self.most is not None:
            size = self._shrunk(size, self.most)
        some = size[size > 0]
        least = float(some.amin()) if some.numel() else self.least
        return torch.where(size == 0, least, size) * self.sign

    def _shrunk(self, size: torch.Tensor, most: float) -> torch.Tensor:
        beyond = size > most if most < 1 else size > 1
        finite = size[torch.isfinite(size)]
        largest = float(finite.amax()) if finite.numel() else 1.0
        if largest > most and int(beyond.sum()) > FEW * size.numel():
            size = size * (most / largest)
        return size.clamp_max(most)

    def described(self) -> str:
        """In words."""
        side = "positive" if self.sign > 0 else "negative"
        return f"its numbers are {side}, away from 0" + ("" if self.most is None else " and no larger than 1")


def extent_of(values: Sequence[torch.Tensor]) -> Extent | None:
    """None where both signs come, or numbers as near to 0 as chance brings them, or one number alone."""
    if values[0].is_complex() or not values[0].numel():
        return None
    bounds = [value.aminmax() for value in values]
    low, high = told([torch.stack([b.min for b in bounds]).amin(), torch.stack([b.max for b in bounds]).amax()])
    if not (low > 0 or high < 0) or low == high or not math.isfinite(high - low):
        return None
    least, most = sorted((abs(low), abs(high)))
    chance = sum(value.numel() for value in values) * math.log1p(-least / most)
    if chance > math.log(UNLIKELY):
        return None
    return Extent(1 if low > 0 else -1, least, most if NEAR_ONE < most <= 1 else None)
