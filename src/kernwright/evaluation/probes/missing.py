"""Missing and infinite numbers among the inputs, for problems whose reference handles them on purpose.

Nobody owes anything about NaN where the reference owes nothing either: one that makes 0 of the NaN of an empty row does
not thereby say what a missing score means. So its source has to name a function that tells such numbers from others,
and that function has to see them before they have spread over what they were computed with.
"""

import ast
import random
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.errors.comparison import Verdict, compare
from kernwright.evaluation.numbers import by_parts, generator_for, is_number, real
from kernwright.evaluation.problem.cases import Asked, Case, Ready, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.spelled import outside_generators
from kernwright.evaluation.problem.turns import Turns

from .in_a_row import in_a_row
from .probe import Probe, Way

TELL_MISSING = frozenset({"isnan", "isfinite", "nan_to_num", "nan_to_num_", "fmax", "fmin"})
"""Functions that do otherwise with NaN than with other numbers, beside those whose name begins with nan, as nanmean."""
TELL_INFINITE = frozenset({"isinf", "isposinf", "isneginf", "isfinite", "nan_to_num", "nan_to_num_"})
EQUAL = frozenset({"eq", "ne", "__eq__", "__ne__"})
"""Of a number with itself: NaN alone is unequal."""
MANY, FEW = 1 / 16, 3
"""The share of an input that is missing, or the most single numbers of it: a look at a sample finds the first alone."""
SPREAD = 4.0
"""Up to so many times the share of an input that is missing, what a function sees of it has not spread."""
MOST_INPUTS = 4
"""Inputs that are looked at; one run of the reference each."""


class Spread(Enum):
    """Where such numbers lie."""

    MANY = "{}"
    FEW = "few {}"
    IN_A_ROW = "{} in a row"


def missing_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Three for each sort of number that the source tells from others: many of them, few, and in a row."""
    names = _told(setting.reference.problem.source)
    ways: list[Way] = []
    if any(map(_tells_missing, names)):
        ways += [partial(_probe, setting, base, rng, "missing numbers", how) for how in Spread]
    if names & TELL_INFINITE:
        ways += [partial(_probe, setting, base, rng, "infinite numbers", how) for how in Spread]
    return ways


def _told(source: str) -> frozenset[str]:
    """Names in the source that tell such numbers from others, outside of what draws inputs."""
    found = set()
    for node in (inner for outer in outside_generators(source) for inner in ast.walk(outer)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Compare) and ast.dump(node.left) == ast.dump(node.comparators[0]):
            found.add("isnan")
    return frozenset(name for name in found if _tells_missing(name) or name in TELL_INFINITE)


def _tells_missing(name: str) -> bool:
    return name in TELL_MISSING or (name.startswith("nan") and len(name) > 3)


def _probe(setting: Setting, base: Case, rng: random.Random, label: str, how: Spread) -> Probe | None:
    broken = partial(_infinite if label.startswith("infinite") else _missing, rng=rng, turns=setting.reference.turns)
    handled = [number for number in _candidates(setting, base) if _is_handled(setting, base, number, broken)]
    if not handled:
        return None
    values = _with(setting, base, handled, partial(broken, how=how))
    case = _where_finite(setting.case(values, how.value.format(label), base.seed))
    if case is None:
        return None
    masked, masks = case

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        return compare(_masked(outputs, masks), masked, setting.reference.problem, setting.names)

    return Probe(masked, judge)


def _candidates(setting: Setting, base: Case) -> list[int]:
    """Inputs of numbers; what gradients are taken along is none of the problem's."""
    count = len(base.values) - len(setting.reference.slopes(setting.workload))
    return [n for n, value in enumerate(base.values[:count]) if setting.alters(n, value)][:MOST_INPUTS]


def _is_handled(setting: Setting, base: Case, number: int, broken: Callable[..., torch.Tensor]) -> bool:
    """Whether a function that tells such numbers from others sees those of this input, and not what they led to."""
    values = _with(setting, base, [number], partial(broken, how=Spread.MANY))
    watch = _Watch()

    def watched() -> bool:
        with watch:
            setting.reference.outputs(setting.model, values)
        return any(0 < share <= SPREAD * _broken_share(values[number]) for share in watch.shares)

    return where_possible(setting.reference, watched) or False


class _Watch(TorchFunctionMode):
    """Of each argument of a function that tells such numbers from others, the share that is no finite number."""

    def __init__(self) -> None:
        super().__init__()
        self.shares: list[float] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, given = getattr(func, "__name__", ""), [*args, *(kwargs or {}).values()]
        itself = name in EQUAL and len(given) == 2 and given[0] is given[1]
        if itself or _tells_missing(name) or name in TELL_INFINITE:
            self.shares += [_broken_share(value) for value in given if is_number(value)]
        return func(*args, **(kwargs or {}))


def _broken_share(value: torch.Tensor) -> float:
    return 1 - int(torch.isfinite(value).sum()) / value.numel()


def _with(
    setting: Setting, base: Case, numbers: Sequence[int], change: Callable[[torch.Tensor], torch.Tensor]
) -> Values:
    values = list(base.values)
    for number in numbers:
        values[number] = by_parts(change, values[number])
    return setting.kept(values, base.values)


def _missing(value: torch.Tensor, rng: random.Random, turns: Turns, how: Spread) -> torch.Tensor:
    return value.masked_fill(_places(value, rng, turns, how), torch.nan)


def _infinite(value: torch.Tensor, rng: random.Random, turns: Turns, how: Spread) -> torch.Tensor:
    """Of both signs, those of the numbers that they stand for."""
    signed = torch.full_like(value, torch.inf).copysign(value)
    return torch.where(_places(value, rng, turns, how), signed, value)


def _places(value: torch.Tensor, rng: random.Random, turns: Turns, how: Spread) -> torch.Tensor:
    generator = generator_for(value, rng)
    if how is Spread.MANY or not value.dim():
        return torch.rand(value.shape, generator=generator, device=value.device) < MANY
    if how is Spread.IN_A_ROW:
        axes = [axis for axis, n in enumerate(value.shape) if n > 1] or [0]
        return in_a_row(value, turns.next(f"missing in a row of {value.dim()}", axes, rng), rng)
    places = torch.zeros(value.numel(), dtype=torch.bool, device=value.device)
    places[torch.randint(value.numel(), (rng.randint(1, FEW),), generator=generator, device=value.device)] = True
    return places.view(value.shape)


def _where_finite(case: Case) -> tuple[Case, list[torch.Tensor | None]] | None:
    """The case with 0 wherever the reference has no number of a size that can be squared, and where it has one."""
    native, oracle = case.native, case.oracle
    masks = [
        _usable(own) & _usable(true, own.dtype) if own.is_floating_point() or own.is_complex() else None
        for own, true in zip(native, oracle, strict=True)
    ]
    if not any(mask is None or bool(mask.any()) for mask in masks):
        return None
    known, true = _masked(native, masks), _masked(oracle, masks)
    if isinstance(case, Asked):
        return Asked(case.values, known, case.label, case.seed, lambda: true, case.fan_in, case.wide), masks
    return Ready(case.values, known, true, case.label, case.seed, case.fan_in), masks


def _usable(output: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    parts = real(output)
    usable: torch.Tensor = parts.abs() < torch.finfo(dtype or output.dtype).max ** 0.5  # false of NaN
    return usable.all(dim=-1) if output.is_complex() else usable


def _masked(outputs: Sequence[torch.Tensor], masks: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
    pairs = zip(outputs, masks, strict=True)
    return [output if mask is None else torch.where(mask, output, 0) for output, mask in pairs]
