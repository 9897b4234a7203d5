"""Integers that chance hardly ever draws: equal ones, one that comes twice, small ones, one that is asked for.

Only where the generator draws each on its own between known bounds, so that it might have drawn any of these.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .cases import Case, Values
from .freedom import EXPECTED
from .probe import generator_for
from .provenance import INDEPENDENT, SORTED, kind_of
from .setting import Setting
from .shortage import where_possible

MANY, SOME = 0.5, 0.02
"""Shares of the places that are changed."""
SMALL = 16
"""So many integers lie next to a bound."""
COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
ASKED = frozenset({"padding_idx", "ignore_index"})
"""Arguments of PyTorch's functions that give one integer a meaning of its own."""
MOST_ASKED, MOST_PAIRS, MOST_LOOKED_AT, MOST_BORDERS = 8, 3, 1 << 16, 64
Change = Callable[[int, torch.Tensor], torch.Tensor]
"""Makes other integers of those of an input, by its number."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Inputs of which any integer between the bounds might have been drawn at any place."""

    base: Case
    draws: Sequence[Values]
    bounds: dict[int, tuple[int, int]]
    """The least, and the first that is too large, by the input's number."""
    ordered: frozenset[int]
    """Those that were put in order after that."""
    rng: random.Random

    def with_others(self, numbers: Sequence[int], change: Change) -> Values:
        """The base, some places of these inputs changed: the same ones where inputs have one shape."""
        values: Values = list(self.base.values)
        seed, share = self.rng.getrandbits(48), self.rng.choice((MANY, SOME))
        for number in numbers:
            value: torch.Tensor = values[number]
            generator = torch.Generator(value.device).manual_seed(seed)
            chance = torch.rand(value.shape, generator=generator, device=value.device)
            at = (chance < share) | (chance == chance.min())
            low, high = self.bounds[number]
            others = change(number, value)
            made = torch.where(at & (others >= low) & (others < high), others.to(value.dtype), value)
            values[number] = made.sort(-1).values if number in self.ordered else made
        return values


def coincidences(
    setting: Setting, base: Case, draws: Sequence[Values], rng: random.Random
) -> list[tuple[str, Callable[[], Values]]]:
    """Labels, and what makes values."""
    origins = setting.reference.origins(setting.workload)
    kinds = {n: kind_of(origins, n) for n, value in enumerate(base.values) if _is_integers(value)}
    varied = {n for n in kinds if any(not torch.equal(base.values[n], values[n]) for values in draws)}
    between = {n: origin.bounds for n in varied if (origin := origins[n]) and origin.bounds}
    bounds = {n: (int(low), int(high)) for n, (low, high) in between.items()}
    ordered = frozenset(n for n in bounds if kinds[n] == SORTED and _rises(base.values[n]))
    bounds = {n: each for n, each in bounds.items() if kinds[n] == INDEPENDENT or n in ordered}
    if not bounds:
        return []
    drawn = _Drawn(base, draws, bounds, ordered, rng)
    return [*_near_bounds(drawn), *_named(drawn, _asked(setting, base)), *_met(drawn), *_repeated(drawn)]


def _is_integers(value: Any) -> bool:
    whole = isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex())
    return whole and value.dtype != torch.bool and value.numel() > 0


def _rises(value: torch.Tensor) -> bool:
    return value.dim() > 0 and bool((value[..., 1:] >= value[..., :-1]).all())


def _near_bounds(drawn: _Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """In all inputs at once: few integers, which meet, follow each other, and are 0 where that is the least."""
    rng, every = drawn.rng, list(drawn.bounds)

    def small(number: int, value: torch.Tensor) -> torch.Tensor:
        return drawn.bounds[number][0] + _below(value, 1 << rng.randint(1, int(math.log2(SMALL))), rng)

    def large(number: int, value: torch.Tensor) -> torch.Tensor:
        return drawn.bounds[number][1] - 1 - _below(value, SMALL, rng)

    def of_any_size(number: int, value: torch.Tensor) -> torch.Tensor:
        low, high = drawn.bounds[number]
        exponents = torch.rand(value.shape, generator=generator_for(value, rng), device=value.device).double()
        return low + ((high - low) ** exponents).long() - 1

    ways = [("the least integers", small), ("the largest integers", large), ("integers of every size", of_any_size)]
    return [(label, partial(drawn.with_others, every, change)) for label, change in ways]


def _below(value: torch.Tensor, most: int, rng: random.Random) -> torch.Tensor:
    return torch.randint(most, value.shape, generator=generator_for(value, rng), device=value.device)


def _named(drawn: _Drawn, asked: Sequence[int]) -> list[tuple[str, Callable[[], Values]]]:
    """Integers that the reference asks for, and the bounds, where draws had few."""
    made: list[tuple[str, Callable[[], Values]]] = []
    for number, (low, high) in drawn.bounds.items():
        usable = [integer for integer in asked if low <= integer < high]
        wanted = {low, high - 1, *drawn.rng.sample(usable, min(len(usable), MOST_ASKED))}
        for integer in sorted(integer for integer in wanted if _is_rare(integer, number, drawn)):
            made.append((f"many integers {integer}", partial(drawn.with_others, [number], partial(_all, integer))))
    return made


def _all(integer: int, _: int, value: torch.Tensor) -> torch.Tensor:
    return torch.full_like(value, integer)


def _is_rare(integer: int, number: int, drawn: _Drawn) -> bool:
    return sum(int((values[number] == integer).sum()) for values in drawn.draws) < EXPECTED


def _met(drawn: _Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """Numbers of another input, at their places where it has the same shape, and at any, where draws had few."""
    rng, values = drawn.rng, drawn.base.values
    pairs = [(n, m) for n in drawn.bounds for m, other in enumerate(values) if m != n and _is_integers(other)]
    made: list[tuple[str, Callable[[], Values]]] = []
    for number, other in rng.sample(pairs, min(len(pairs), MOST_PAIRS)):
        given: torch.Tensor = values[other]
        known = [(each[number], each[other]) for each in drawn.draws]
        changes: list[Change] = []
        if values[number].shape == given.shape and sum(int((a == b).sum()) for a, b in known) < EXPECTED:
            changes.append(partial(_the, given))
        if sum(int(torch.isin(_some(a, rng), _some(b, rng)).sum()) for a, b in known) < EXPECTED:
            changes.append(partial(_any_of, given.flatten(), rng))
        made += [("integers of another input", partial(drawn.with_others, [number], change)) for change in changes]
    return made


def _the(given: torch.Tensor, _: int, value: torch.Tensor) -> torch.Tensor:
    return given


def _any_of(given: torch.Tensor, rng: random.Random, _: int, value: torch.Tensor) -> torch.Tensor:
    return given[_below(value, len(given), rng)]


def _some(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    flat = value.flatten()
    if len(flat) <= MOST_LOOKED_AT:
        return flat
    return flat[torch.randint(len(flat), (MOST_LOOKED_AT,), generator=generator_for(flat, rng), device=flat.device)]


def _repeated(drawn: _Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """Numbers of other places of a line, where lines have few that are equal; and whole lines that are equal."""
    made: list[tuple[str, Callable[[], Values]]] = []
    for number, (low, high) in drawn.bounds.items():
        value = drawn.base.values[number]
        axes = [axis for axis, n in enumerate(value.shape) if n > 1]
        pairs = {axis: len(drawn.draws) * value.numel() * (value.shape[axis] - 1) / 2 / (high - low) for axis in axes}
        if rare := [axis for axis in axes if pairs[axis] < EXPECTED]:
            change = partial(_from_elsewhere, drawn.rng.choice(rare), drawn.rng)
            made.append(("integers that come twice", partial(drawn.with_others, [number], change)))
        if len(axes) > 1 and number not in drawn.ordered:
            made.append(("lines that come twice", partial(_lines_twice, drawn, number, drawn.rng.choice(axes))))
    return made


def _from_elsewhere(axis: int, rng: random.Random, _: int, value: torch.Tensor) -> torch.Tensor:
    places = torch.randint(value.shape[axis], value.shape, generator=generator_for(value, rng), device=value.device)
    return value.gather(axis, places)


def _lines_twice(drawn: _Drawn, number: int, axis: int) -> Values:
    values: Values = list(drawn.base.values)
    value: torch.Tensor = values[number]
    n, generator = value.shape[axis], generator_for(value, drawn.rng)
    values[number] = value.index_select(axis, torch.randint(n, (n,), generator=generator, device=value.device))
    return values


def _asked(setting: Setting, base: Case) -> list[int]:
    """Integers that the reference compares integers with, and their neighbours where it asks for an order."""
    watch = _Watch()

    def watched() -> list[int]:
        with watch:
            setting.reference.outputs(setting.model, base.values)
        return sorted(watch.integers)

    return where_possible(setting.reference, watched) or []


class _Watch(TorchFunctionMode):
    """What tensors are compared with; integers may have become floating numbers for it."""

    def __init__(self) -> None:
        super().__init__()
        self.integers = set[int]()

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, given = getattr(func, "__name__", "").strip("_"), {**(kwargs or {})}
        compared = (*args, *given.values())
        if name in COMPARED | {"isin"} and any(isinstance(each, torch.Tensor) for each in compared):
            near = (-1, 0, 1) if name not in ("eq", "ne", "isin") else (0,)
            for each in compared:
                self.integers.update(number + step for number in _integers_of(each) for step in near)
        for key in ASKED & given.keys():
            self.integers.update(_integers_of(given[key]))
        return func(*args, **(kwargs or {}))


def _integers_of(given: Any) -> list[int]:
    """A number alone, or the few that a tensor holds."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return [int(given)] if float(given).is_integer() else []
    if isinstance(given, torch.Tensor) and given.numel() and not given.is_complex():
        few = given.flatten()[: MOST_BORDERS + 1].tolist()
        known = given.numel() <= MOST_BORDERS or len(set(few)) == 1
        return [int(each) for each in {*few} if known and math.isfinite(each) and each == int(each)]
    return []
