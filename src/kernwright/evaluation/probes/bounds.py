"""By how much numbers are beyond the bounds that a function has: comparisons, and what decides without one."""

import ast
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import torch

from kernwright.evaluation.numbers import is_number

from .asked import DIVIDING, INTEGERS, ORDERED

MOST = 4
"""Numbers that a scalar is compared with outside PyTorch; and places of an axis, each of which may be the largest."""
Margins = Callable[[Sequence[Any], dict[str, Any]], list[Any]]
"""Of a function's arguments, the first of which is a tensor of real numbers."""


def _less(*bounds: float) -> Margins:
    return lambda args, _: [args[0] - bound for bound in bounds]


def _less_given(names: Sequence[str], usual: Sequence[float | None] = ()) -> Margins:
    """Bounds by place or by name."""

    def margins(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        given = dict(zip(names, [*args[1:], *[None] * len(names)], strict=False)) | kwargs
        own = dict(zip(names, [*usual, *[None] * len(names)], strict=False))
        bounds = (own[name] if given.get(name) is None else given[name] for name in names)
        return [args[0] - bound for bound in bounds if bound is not None]

    return margins


def _whole(args: Sequence[Any], _: dict[str, Any]) -> list[Any]:
    """What is cut off at the point is 0 between these."""
    return [args[0].abs() - 1]


def _shrunk(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    return [args[0].abs() - (args[1] if len(args) > 1 else kwargs.get("lambd", 0.5))]


def _divided(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """What has no whole step, or one."""
    other = args[1] if len(args) > 1 else kwargs.get("other")
    if isinstance(other, str) or other is None:
        return []
    steps = args[0] / other
    return [steps, steps - 1]


def _divided_in_steps(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    return _divided(args, kwargs) if kwargs.get("rounding_mode") else []


def _placed(args: Sequence[Any], kwargs: dict[str, Any], swap: bool = False) -> list[Any]:
    """Among sorted numbers: beyond the first, the last and some in between."""
    other: Any = args[1] if len(args) > 1 else kwargs.get("boundaries", kwargs.get("input"))
    numbers, borders = (other, args[0]) if swap else (args[0], other)
    if not is_real(numbers) or not is_real(borders) or not borders.dim() or not borders.shape[-1]:
        return []
    some = torch.linspace(0, borders.shape[-1] - 1, min(MOST, borders.shape[-1])).long().tolist()
    return [numbers - borders[..., place, None] for place in some]


def _largest(sign: int, place: int = 1, usual: int | None = None) -> Margins:
    """By how much each place of a short axis is larger than all others; the argument at `place` says which."""

    def margins(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        axis, numbers = args[place] if len(args) > place else kwargs.get("dim", usual), args[0] * sign
        if not isinstance(axis, int) or not 1 < numbers.shape[axis] <= MOST:
            return []
        lines = numbers.unbind(axis)
        others = [torch.stack([*lines[:n], *lines[n + 1 :]]).amax(0) for n in range(len(lines))]
        return [line - other for line, other in zip(lines, others, strict=True)]

    return margins


BOUNDS: dict[str, Margins] = {
    "relu": _less(0.0),
    "sign": _less(0.0),
    "sgn": _less(0.0),
    "heaviside": _less(0.0),
    "relu6": _less(0.0, 6.0),
    "hardtanh": _less_given(("min_val", "max_val"), (-1.0, 1.0)),
    "clamp": _less_given(("min", "max")),
    "clip": _less_given(("min", "max")),
    "clamp_min": _less_given(("min",)),
    "clamp_max": _less_given(("max",)),
    "threshold": _less_given(("threshold",)),
    "maximum": _less_given(("other",)),
    "minimum": _less_given(("other",)),
    "hardshrink": _shrunk,
    "softshrink": _shrunk,
    "trunc": _whole,
    "fix": _whole,
    "long": _whole,
    "int": _whole,
    "floor": _less(0.0, 1.0),
    "ceil": _less(0.0, -1.0),
    "round": lambda args, _: [args[0].abs() - 0.5],
    "argmax": _largest(1),
    "argmin": _largest(-1),
    "max": _largest(1),
    "min": _largest(-1),
    "topk": _largest(1, 2, -1),
    "bucketize": _placed,
    "searchsorted": partial(_placed, swap=True),
    "div": _divided_in_steps,
    "divide": _divided_in_steps,
    **dict.fromkeys(DIVIDING, _divided),
}
"""By the names of PyTorch's functions that give one thing on one side of a bound, and another on the other."""
LEAVING = frozenset({"item", "tolist", "__float__", "__bool__"})
"""Functions that hand numbers over to Python, whose comparisons nobody sees."""
DECIDES = frozenset({*BOUNDS, *ORDERED, "item", "tolist", "to"})


@cache
def numbers_compared(source: str) -> tuple[float, ...]:
    """Floating numbers that a source compares with, as `x > 0.2` does; at most `MOST`."""
    compared = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare))
    parts = (part for node in compared for part in (node.left, *node.comparators))
    found = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, float)]
    return tuple(dict.fromkeys(found))[:MOST]


def margins_of(
    func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], compared: Sequence[float]
) -> list[torch.Tensor]:
    """By how much the numbers that a function is given are beyond its bounds; none for most functions.

    `compared`: what Python may compare a number with.
    """
    named = getattr(func, "__name__", "")
    name = named if named in LEAVING else named.strip("_")
    if name in ORDERED and len(args) == 2 and any(map(is_real, args)):
        one, other = args if name in ("gt", "ge") else reversed(args)
        found = [one - other]
    elif not args or not is_real(args[0]):
        return []
    elif name in LEAVING:
        found = [args[0] - number for number in compared] if args[0].numel() == 1 else []
    elif name == "to":
        kinds = {each for each in (*args[1:], *kwargs.values()) if isinstance(each, torch.dtype)}
        found = _whole(args, kwargs) if kinds & INTEGERS else []
    else:
        found = BOUNDS[name](args, kwargs) if name in BOUNDS else []
    return [margin for margin in found if isinstance(margin, torch.Tensor)]


def is_real(value: Any) -> bool:
    """Whether it is a tensor of real floating numbers."""
    return is_number(value) and not value.is_complex()
