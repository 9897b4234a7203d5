"""Integers that a reference asks for: what it compares tensors with and divides them by, and what its functions are
told of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.drawing.freedom import DTYPES
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

ORDERED = frozenset({"lt", "le", "gt", "ge"})
COMPARED = ORDERED | {"eq", "ne"}
ASKED = frozenset({"padding_idx", "ignore_index"})
"""Arguments of PyTorch's functions that give one integer a meaning of its own."""
DIVIDING = frozenset({"floordiv", "floor_divide", "mod", "remainder", "fmod"})
"""Functions that leave whole steps, or what is left of them; and `div`, where it rounds."""
INTEGERS = frozenset(DTYPES) - {torch.bool}
MOST_BORDERS, LONGEST = 64, 64
"""Integers that a tensor holds of which each is asked for, and the longest of what is asked for one after the other."""


@dataclass(slots=True)
class Wanted:
    """Integers; neighbours too, where an order was asked for."""

    integers: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    """Without the neighbours."""
    in_turn: list[int] = field(default_factory=list)
    """Those that were looked for alone, in the order in which they were: what follows each other may be a pattern."""
    divisors: set[tuple[int, int]] = field(default_factory=set)
    """Of which a result counts whole ones, and what was added to an input before: there it takes its step."""
    divided: set[tuple[int, int]] = field(default_factory=set)
    """Inputs of which one is divided by the other so."""


def asked(setting: Setting, base: Case) -> Wanted:
    """By the reference, on its way from these values."""
    watch = _Watch(base.values)

    def watched() -> Wanted:
        with watch:
            setting.reference.outputs(setting.model, base.values)
        return watch.asked

    return where_possible(setting.reference, watched) or Wanted()


class _Watch(TorchFunctionMode):
    """What tensors are compared with; integers may have become floating numbers for it."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        self.asked = Wanted()
        self._inputs = {n: v for n, v in enumerate(values) if isinstance(v, torch.Tensor) and v.dtype in INTEGERS}

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, given = getattr(func, "__name__", "").strip("_"), {**(kwargs or {})}
        compared = (*args, *given.values())
        if name in COMPARED | {"isin"} and any(isinstance(each, torch.Tensor) for each in compared):
            self._see(name, [_integers_of(each) for each in compared])
        if name in DIVIDING or (name == "div" and given.get("rounding_mode")):
            self._see_division(compared[0], compared[1])
        for key in ASKED & given.keys():
            self._see(key, [_integers_of(given[key])])
        return func(*args, **(kwargs or {}))

    def _see_division(self, divided: Any, divisor: Any) -> None:
        if not isinstance(divided, torch.Tensor) or divided.dtype not in INTEGERS:
            return
        one, other = ([n for n, v in self._inputs.items() if _is(v, each)] for each in (divided, divisor))
        self.asked.divided |= {(n, m) for n in one for m in other if n != m}
        added = [_added(v, divided) for v in self._inputs.values()]
        known = {by for by in added if by is not None} or {0}
        self.asked.divisors |= {(abs(number), by) for number in _integers_of(divisor) for by in known}

    def _see(self, name: str, found: Sequence[list[int]]) -> None:
        near = (-1, 0, 1) if name in ORDERED else (0,)
        self.asked.named.update(number for numbers in found for number in numbers)
        self.asked.integers.update(number + step for numbers in found for number in numbers for step in near)
        if name in ("eq", "ne"):
            self.asked.in_turn += [numbers[0] for numbers in found if len(numbers) == 1]
            del self.asked.in_turn[LONGEST:]


def _is(value: torch.Tensor, given: Any) -> bool:
    same = isinstance(given, torch.Tensor) and given.shape == value.shape
    return same and given.untyped_storage().data_ptr() == value.untyped_storage().data_ptr()


def _added(value: torch.Tensor, given: torch.Tensor) -> int | None:
    """What was added to all numbers of an input to get these; None where it is not one number."""
    if given.shape != value.shape or given.device != value.device or not value.numel():
        return None
    least, most = (given.long() - value.long()).aminmax()
    return int(least) if bool(least == most) else None


def _integers_of(given: Any) -> list[int]:
    """A number alone, or the few that a tensor holds."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return [int(given)] if float(given).is_integer() else []
    if isinstance(given, torch.Tensor) and given.numel() and not given.is_complex():
        few = given.flatten()[: MOST_BORDERS + 1].tolist()
        known = given.numel() <= MOST_BORDERS or len(set(few)) == 1
        return [int(each) for each in {*few} if known and math.isfinite(each) and each == int(each)]
    return []
