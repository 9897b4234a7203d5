"""Floating numbers that a problem asks for by name: `x == -1.0`, `x > 20`, `x.clamp(-65504, 65504)`, `x == y`, and
the ends of `histc(x, 64, -4, 4)`.

No draw of real numbers is ever equal to one, and few come near to a bound that is far away; who leaves such a branch
out is right on all that a generator draws. So some places of the inputs get the number itself, or what lies beyond it.
"""

import ast
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.drawing.freedom import EXPECTED
from kernwright.evaluation.numbers import chances, is_number, told
from kernwright.evaluation.problem.cases import Asked, Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .asked import COMPARED
from .in_a_row import in_a_row

LABEL = "numbers that are asked for"
BOUNDING = frozenset({"clamp", "clip", "clamp_min", "clamp_max", "hardtanh", "threshold"})
"""Functions with bounds, beyond which they do otherwise."""
COUNTING = frozenset({"histc", "histogram", "histogramdd"})
"""Functions with a range, in which its upper end is and beyond which nothing counts."""
HOLDING = frozenset({"bucketize", "searchsorted"})
"""Functions that compare with numbers that a tensor holds."""
CHOOSING = frozenset(
    "argmax argmin argsort aminmax kthvalue max median min mode msort multinomial nanmedian nonzero searchsorted sort "
    "topk unique unique_consecutive".split()
)
"""Of equal numbers either may come first: where a source names one of these, a number comes once alone."""
ORDERS = (COMPARED - {"eq", "ne"}) | COUNTING | HOLDING
WATCHED = COMPARED | BOUNDING | ORDERS
SHARE = 0.25
"""Of the places of an input, those that get another number."""
BEYOND = 1.5
MOST = 8
"""Numbers that one input gets."""
MOST_HELD, ROUND = 64, 4096
"""Of what is compared with the numbers of a tensor: in a longer one nobody looks, nor where not all are multiples of
such a part, since a kernel may reckon on which side of others a number is, and a last digit decide."""


@dataclass(slots=True)
class Compared:
    """What a reference asks for, by the name of the function that asks."""

    numbers: set[tuple[str, float]] = field(default_factory=set)
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """Inputs that are compared with each other."""
    held: set[tuple[str, float]] = field(default_factory=set)
    """Numbers of tensors that are neither inputs nor the model's."""


def asked_for(setting: Setting, base: Case) -> Compared:
    """Found out once for each workload, by one run of the reference where its source compares anything, and by one on
    another draw where tensors hold what it compares with: they may be made of a draw."""

    def watched(case: Case) -> Compared:
        watch = _Watch(setting, case.values)
        with watch:
            setting.reference.outputs(setting.model, case.values)
        return watch.asked

    def always() -> Compared:
        asked = watched(base)
        if asked.held:
            other = next((each for each in setting.bases if each is not base), base)
            asked.numbers |= asked.held & watched(other).held
        return asked

    def found() -> Compared:
        comparing = compares(setting.reference.problem.source)
        return (where_possible(setting.reference, always) if comparing else None) or Compared()

    return setting.reference.known.once(setting.workload, "asked for", found)


def with_asked_for(setting: Setting, base: Case, rng: random.Random, *, in_stretches: bool = False) -> Values | None:
    """The base with such numbers, where draws had few or none; None where they had enough.

    `in_stretches`: one of them, in stretches of lines; not where equal ones are chosen from.
    """
    asked = asked_for(setting, base)
    values, known = list(base.values), [each.values for each in setting.bases]
    once = bool(CHOOSING & named(setting.reference.problem.source))
    if once and in_stretches:
        return None
    for number, value in enumerate(base.values):
        if not setting.alters(number, value) or value.is_complex() or not value.dim():
            continue
        draws = [each[number] for each in known]
        backward = setting.reference.problem.backward
        some: list[Any] = [n for n in _rare(asked, draws, backward) if _fits(n, value)]
        others = [m for n, m in asked.pairs if n == number and _never_equal(draws, [each[m] for each in known])]
        if in_stretches:
            if some:
                axis = setting.reference.turns.next(f"asked for in a row, input {number}", range(value.dim()), rng)
                one = setting.reference.turns.next(f"which in a row, input {number}", some, rng)
                values[number] = value.masked_fill(in_a_row(value, axis, rng), one)
            continue
        some = [*rng.sample(some, min(len(some), MOST)), *(values[m] for m in others)]
        if some:
            values[number] = _mixed(value, some, rng, once=once)
    changed = any(one is not other for one, other in zip(values, base.values, strict=True))
    return setting.kept(values, base.values) if changed else None


def asked_case(setting: Setting, base: Case, values: Values) -> Case:
    """A case of such values, in which what is asked for lies there on purpose, and is what it is where other numbers
    may differ by a last digit."""
    case = setting.case(values, LABEL, base.seed)
    if not isinstance(case, Asked) or case.wide is None:
        return case
    wide, numbers = case.wide, sorted({number for _, number in asked_for(setting, base).numbers})

    def stays(own: torch.Tensor, moved: torch.Tensor) -> torch.Tensor:
        named = [number for number in numbers if _fits(number, own)]
        return torch.where(torch.isin(own, torch.tensor(named, dtype=own.dtype, device=own.device)), own, moved)

    def moved(others: Values) -> list[torch.Tensor]:
        pairs = zip(values, others, strict=True)
        return wide([stays(own, other) if is_number(own) and not own.is_complex() else other for own, other in pairs])

    return replace(case, wide=moved)


def _rare(asked: Compared, draws: Sequence[torch.Tensor], backward: bool) -> list[float]:
    """Numbers themselves where none was drawn, and beyond bounds that are farther from 0 than what was. At a bound a
    gradient is a choice."""
    most = max(told(torch.where(v.isfinite(), v, 0.0).abs().amax() for v in draws if v.numel()), default=0.0)
    found = set[float]()
    for name, number in asked.numbers:
        if name not in BOUNDING and not (backward and name in ORDERS):
            found |= {number} if sum(int((value == number).sum()) for value in draws) < EXPECTED else set()
        if name in BOUNDING | ORDERS and abs(number) > most:
            found.add(number * BEYOND)
    return sorted(found)


def _fits(number: float, value: torch.Tensor) -> bool:
    return abs(number) <= torch.finfo(value.dtype).max


def _never_equal(draws: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    if draws[0].shape != others[0].shape or draws[0].dtype != others[0].dtype:
        return False
    return sum(int((one == other).sum()) for one, other in zip(draws, others, strict=True)) < EXPECTED


def _mixed(value: torch.Tensor, some: Sequence[Any], rng: random.Random, *, once: bool) -> torch.Tensor:
    """Each of these at as many places, or at one: numbers, or those of another input there."""
    chance = chances(value, rng) * (len(some) / SHARE)
    for place, number in enumerate(some):
        at = (chance >= place) & (chance < place + 1)
        if once:
            at = torch.zeros_like(at).flatten()
            at[rng.randrange(len(at))] = True
        value = torch.where(at.view(value.shape), number, value)
    return value


def compares(source: str) -> bool:
    """Whether a problem's source compares anything, or calls what does."""
    comparing = any(isinstance(node, ast.Compare) for node in ast.walk(ast.parse(source)))
    return comparing or bool(WATCHED & named(source))


def named(source: str) -> set[str]:
    """Attributes that a source has, such as the functions and methods of PyTorch's that it calls."""
    return {node.attr.strip("_") for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


class _Watch(TorchFunctionMode):
    """With what floating tensors are compared, and which inputs with each other."""

    def __init__(self, setting: Setting, values: Values) -> None:
        super().__init__()
        self.asked = Compared()
        self._inputs = {_place(v): n for n, v in enumerate(values) if is_number(v)}
        self._others = {*self._inputs, *(_place(v) for v in setting.state.values())}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "").strip("_")
        if name in WATCHED:
            self._look(name, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _look(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        given = [*args, *kwargs.values()]
        tensors = [each for each in given if is_number(each)]
        if not tensors:
            return
        if name in COUNTING:
            given = [*(args[2:] if name == "histc" else ()), kwargs.get("min"), kwargs.get("max")]
            given += kwargs.get("range") or ()
        plain = [each for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
        self.asked.numbers |= {(name, float(each)) for each in plain if math.isfinite(each)}
        if name in COUNTING | HOLDING:
            self.asked.held |= {(name, number) for each in tensors for number in self._held(each)}
            return
        found = [number for each in tensors if (number := self._inputs.get(_place(each))) is not None]
        if len(tensors) == 2 and len({*found}) == 2:
            self.asked.pairs.add((found[0], found[1]))

    def _held(self, tensor: torch.Tensor) -> list[float]:
        """Of a short line, such as borders in the code are; those of inputs and models are for `borders`."""
        if (
            tensor.dim() != 1
            or not 1 < len(tensor) <= MOST_HELD
            or tensor.is_complex()
            or _place(tensor) in self._others
        ):
            return []
        numbers: list[float] = tensor.tolist()
        return numbers if all(math.isfinite(n) and (n * ROUND).is_integer() for n in numbers) else []


def _place(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
