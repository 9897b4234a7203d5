"""Between which numbers a generator's draws lie, as far as its calls say it for certain."""

import math
import operator
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import torch

Bounds = tuple[float, float]
"""The least number that an element may be, and the first that is too large; of integers any between them may be."""
CLAMPS = frozenset({"clamp", "clip", "clamp_min", "clamp_max"})
FILLS = frozenset({"where", "masked_fill"})
"""Put one number at the places of a mask."""


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


def moved_bounds(
    name: str, args: Sequence[Any], kwargs: dict[str, Any], bounds: Bounds | None, dtype: torch.dtype, *, turned: bool
) -> Bounds | None:
    """After an operation with numbers; `dtype`: of the result; `turned`: where the number is the first operand."""
    if bounds is None or dtype.is_floating_point != (type(bounds[0]) is float):
        return None
    if name in CLAMPS:
        moved = _clamped(bounds, *_limits(name, args, kwargs))
    else:
        by = next((each for each in args if type(each) in (int, float)), None)
        moved = None if by is None or kwargs else _moved(name, args, bounds, by, turned=turned)
    return moved if _holds(dtype, moved) else None


def _moved(name: str, args: Sequence[Any], bounds: Bounds, by: float, *, turned: bool) -> Bounds | None:
    low, high = bounds
    if name in FILLS and type(by) is type(low) is int:
        return (min(low, by), max(high, by + 1)) if low - 1 <= by <= high else None  # else there would be a gap
    if len(args) != 2:
        return None
    if name == "add":
        return low + by, high + by
    if name == "sub" and turned:
        return (by - high + 1, by - low + 1) if type(by) is type(low) is int else None
    if name == "sub":
        return low - by, high - by
    if name == "mul" and by > 0 and type(low) is float:
        return low * by, high * by
    if name in ("remainder", "mod") and not turned and 0 < by <= high - low and type(args[1]) is int:
        return 0, by
    return None


def _limits(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The least and the largest number that is left."""
    given = [*args[1:], None, None]
    if name == "clamp_max":
        return None, kwargs.get("max", given[0])
    return kwargs.get("min", given[0]), kwargs.get("max", given[1])


def _clamped(bounds: Bounds, least: Any, most: Any) -> Bounds | None:
    """Of integers alone: the largest number of others might come then, which bounds leave out."""
    if not all(each is None or type(each) is int for each in (least, most)) or type(bounds[0]) is not int:
        return None
    low = bounds[0] if least is None else max(bounds[0], least)
    high = bounds[1] if most is None else min(bounds[1], most + 1)
    return (low, high) if low < high else None


def _holds(dtype: torch.dtype, bounds: Bounds | None) -> bool:
    if bounds is None or dtype == torch.bool or dtype.is_complex:
        return False
    if dtype.is_floating_point:
        return True
    limits = torch.iinfo(dtype)
    return all(type(each) is int for each in bounds) and limits.min <= bounds[0] and bounds[1] - 1 <= limits.max
