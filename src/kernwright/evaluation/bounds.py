"""Between which numbers a generator's draws lie, as far as its calls say it for certain."""

import math
import operator
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import torch

Bounds = tuple[float, float]
"""The least number that an element may be, and the first that is too large; of integers any between them may be."""


def drawn_bounds(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Bounds | None:
    """Of what a call draws."""
    if name in ("rand", "rand_like"):
        return 0.0, 1.0
    if name not in ("randint", "randint_like", "random"):
        return None
    given = takewhile(lambda each: not isinstance(each, tuple | list), args[name != "randint" :])
    numbers = [*map(_integer, given)]
    low, high = _integer(kwargs.get("low", 0)), _integer(kwargs.get("high"))
    if len(numbers) == 2:
        low, high = numbers
    elif len(numbers) == 1:
        low, high = (numbers[0], high) if "high" in kwargs else (low, numbers[0])
    return (low, high) if low is not None and high is not None and low < high else None


def _integer(value: Any) -> int | None:
    """Also of NumPy; what a tensor holds may be drawn again."""
    if isinstance(value, torch.Tensor) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def cast_bounds(bounds: Bounds | None, before: torch.dtype, after: torch.dtype) -> Bounds | None:
    """The same in another type, where that leaves the numbers what they are, or cuts off their fractions."""
    if bounds is None or before.is_floating_point == after.is_floating_point:
        return bounds if _holds(after, bounds) else None
    if after.is_floating_point or bounds[0] < 0:
        return None
    whole = math.floor(bounds[0]), math.ceil(bounds[1])
    return whole if _holds(after, whole) else None


def moved_bounds(name: str, args: Sequence[Any], bounds: Bounds | None, dtype: torch.dtype) -> Bounds | None:
    """After an operation with one number; `dtype`: of the result."""
    by = next((each for each in args if type(each) in (int, float)), None)
    if bounds is None or by is None or len(args) != 2 or dtype.is_floating_point != (type(bounds[0]) is float):
        return None
    moved: Bounds | None = None
    if name == "add":
        moved = bounds[0] + by, bounds[1] + by
    elif name == "mul" and by > 0 and type(bounds[0]) is float:
        moved = bounds[0] * by, bounds[1] * by
    elif name in ("remainder", "mod") and 0 < by <= bounds[1] - bounds[0] and type(args[1]) is int:
        moved = 0, by
    return moved if _holds(dtype, moved) else None


def _holds(dtype: torch.dtype, bounds: Bounds | None) -> bool:
    if bounds is None or dtype == torch.bool or dtype.is_complex:
        return False
    if dtype.is_floating_point:
        return True
    limits = torch.iinfo(dtype)
    return all(type(each) is int for each in bounds) and limits.min <= bounds[0] and bounds[1] - 1 <= limits.max
