"""Integers that chance hardly ever draws: equal ones, one that comes twice, small ones, or one that is asked for.

Only where the generator draws each on its own between known bounds, so that it might have drawn any of these.
"""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from kernwright.evaluation.drawing.freedom import EXPECTED
from kernwright.evaluation.drawing.provenance import INDEPENDENT, SORTED, kind_of
from kernwright.evaluation.numbers import chances, generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting

from .asked import Wanted, asked
from .drawn import MANY, Change, Drawn, below
from .jointly import jointly_ways
from .multiples import multiple_ways
from .neighbours import line_ways, near_ways
from .partners import partner_ways
from .powers import power_ways
from .steps import step_ways
from .stretches import stretch_ways

SMALL = 16
"""So many integers lie next to a bound."""
MOST_ASKED, MOST_PAIRS, MOST_LOOKED_AT = 6, 3, 1 << 16
LOW_BITS = 8, 16, 32
"""Integers that differ by a power of two alone are equal to who looks at so many of their bits."""


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
    drawn = Drawn(base, draws, bounds, ordered, rng, setting.reference.turns)
    wanted = asked(setting, base)
    rare = [(n, axis) for n in bounds if n not in ordered for axis in _rarely_equal(drawn, n)]
    named = [*_named(drawn, wanted), *multiple_ways(drawn, wanted), *_together(drawn, wanted)]
    alone = [*_near_bounds(drawn), *named, *_met(drawn), *_repeated(drawn), *near_ways(drawn), *line_ways(drawn)]
    alone += [*stretch_ways(drawn, wanted.named), *partner_ways(drawn), *power_ways(drawn)]
    alone += step_ways(setting, drawn)
    return [*alone, *jointly_ways(setting, base, rare, rng)]


def _is_integers(value: Any) -> bool:
    whole = isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex())
    return whole and value.dtype != torch.bool and value.numel() > 0


def _rises(value: torch.Tensor) -> bool:
    return value.dim() > 0 and bool((value[..., 1:] >= value[..., :-1]).all())


def _near_bounds(drawn: Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """In all inputs at once: few integers, which meet, follow each other, and are 0 where that is the least."""
    rng, every = drawn.rng, list(drawn.bounds)

    def small(number: int, value: torch.Tensor) -> torch.Tensor:
        return drawn.bounds[number][0] + below(value, 1 << rng.randint(1, int(math.log2(SMALL))), rng)

    def large(number: int, value: torch.Tensor) -> torch.Tensor:
        return drawn.bounds[number][1] - 1 - below(value, SMALL, rng)

    def of_any_size(number: int, value: torch.Tensor) -> torch.Tensor:
        low, high = drawn.bounds[number]
        exponents = chances(value, rng).double()
        return low + ((high - low) ** exponents).long() - 1

    ways = [("the least integers", small), ("the largest integers", large), ("integers of every size", of_any_size)]
    return [(label, partial(drawn.with_others, every, change)) for label, change in ways]


def _named(drawn: Drawn, wanted: Wanted) -> list[tuple[str, Callable[[], Values]]]:
    """Integers that the reference asks for, and the bounds, where draws had few."""
    made: list[tuple[str, Callable[[], Values]]] = []
    for number, (low, high) in drawn.bounds.items():
        usable = _usable(drawn, number, sorted(wanted.integers))
        some = {low, high - 1, *drawn.rng.sample(usable, min(len(usable), MOST_ASKED))}
        for integer in sorted(integer for integer in some if _is_rare(integer, number, drawn)):
            made.append((f"many integers {integer}", partial(drawn.with_others, [number], partial(_all, integer))))
    return made


def _all(integer: int, _: int, value: torch.Tensor) -> torch.Tensor:
    return torch.full_like(value, integer)


def _is_rare(integer: int, number: int, drawn: Drawn) -> bool:
    return sum(int((values[number] == integer).sum()) for values in drawn.draws) < EXPECTED


def _usable(drawn: Drawn, number: int, integers: Sequence[int]) -> list[int]:
    low, high = drawn.bounds[number]
    return [integer for integer in integers if low <= integer < high]


def _together(drawn: Drawn, wanted: Wanted) -> list[tuple[str, Callable[[], Values]]]:
    """Several that the reference asks for, in all inputs at once: at random, and one after the other as it asks."""
    several = {n: _usable(drawn, n, sorted(wanted.named)) for n in drawn.bounds}
    in_turn = {n: _usable(drawn, n, wanted.in_turn) for n in drawn.bounds if n not in drawn.ordered}
    mixed = [n for n, each in several.items() if len(each) > 1 and any(_is_rare(i, n, drawn) for i in each)]
    runs = [n for n, each in in_turn.items() if len(set(each)) > 1 and _are_rare(each, n, drawn)]
    made: list[tuple[str, Callable[[], Values]]] = []
    if mixed:
        made.append(("several integers", partial(drawn.with_others, mixed, partial(_some_of, several, drawn.rng))))
    if runs:
        made.append(("integers in turn", partial(_in_turn, drawn, {n: in_turn[n] for n in runs})))
    return made


def _are_rare(run: Sequence[int], number: int, drawn: Drawn) -> bool:
    """Whether chance hardly draws them one after the other."""
    low, high = drawn.bounds[number]
    places = sum(values[number].numel() for values in drawn.draws)
    return bool(places < EXPECTED * float(high - low) ** min(len(run), 16))


def _some_of(several: dict[int, list[int]], rng: random.Random, number: int, value: torch.Tensor) -> torch.Tensor:
    integers = torch.tensor(several[number], device=value.device)
    return integers[below(value, len(integers), rng)]


def _in_turn(drawn: Drawn, runs: dict[int, list[int]]) -> Values:
    """Along the last axis every other stretch is such a run, the same ones where inputs have one shape."""
    values: Values = list(drawn.base.values)
    seed, begin = drawn.rng.getrandbits(48), drawn.rng.randrange(max(map(len, runs.values())))
    for number, run in runs.items():
        value: torch.Tensor = values[number]
        line = value if value.dim() else value.view(1)
        place = torch.arange(line.shape[-1], device=value.device) + begin
        wanted = torch.tensor(run, device=value.device)[place % len(run)]
        generator = torch.Generator(value.device).manual_seed(seed)
        stretches = (*line.shape[:-1], int(place[-1]) // len(run) + 1)
        chance = torch.rand(stretches, generator=generator, device=value.device)
        chosen = (chance < MANY) | (chance == chance.min())
        values[number] = torch.where(chosen[..., place // len(run)], wanted.to(value.dtype), line).view(value.shape)
    return values


def _met(drawn: Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """Numbers of another input, at their places where it has the same shape, and at any, where draws had few."""
    rng, values = drawn.rng, drawn.base.values
    pairs = [(n, m) for n in drawn.bounds for m, other in enumerate(values) if m != n and _is_integers(other)]
    made: list[tuple[str, Callable[[], Values]]] = []
    for number, other in rng.sample(pairs, min(len(pairs), MOST_PAIRS)):
        given: torch.Tensor = values[other]
        known = [(each[number], each[other]) for each in drawn.draws]
        changes: list[Change] = []
        if values[number].shape == given.shape and sum(int((a == b).sum()) for a, b in known) < EXPECTED:
            changes.append(partial(_the, given, drawn))
        if sum(int(torch.isin(_some(a, rng), _some(b, rng)).sum()) for a, b in known) < EXPECTED:
            changes.append(partial(_any_of, given.flatten(), drawn))
        made += [("integers of another input", partial(drawn.with_others, [number], change)) for change in changes]
    return made


def _the(given: torch.Tensor, drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    return _or_with_equal_bits(given, drawn, number)


def _any_of(given: torch.Tensor, drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    return _or_with_equal_bits(given[below(value, len(given), drawn.rng)], drawn, number)


def _or_with_equal_bits(given: torch.Tensor, drawn: Drawn, number: int) -> torch.Tensor:
    """These, and at some of the places others within the bounds whose low bits are theirs."""
    low, high = drawn.bounds[number]
    steps = [1 << bits for bits in LOW_BITS if 1 << bits < high - low]
    if not steps:
        return given
    wide = given.long()
    step = torch.tensor(steps, device=given.device)[below(wide, len(steps), drawn.rng)]
    moved = torch.where(wide + step < high, wide + step, wide - step)
    other = (below(wide, 4, drawn.rng) == 0) & (moved >= low) & (moved < high)
    return torch.where(other, moved, wide)


def _some(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    flat = value.flatten()
    if len(flat) <= MOST_LOOKED_AT:
        return flat
    return flat[torch.randint(len(flat), (MOST_LOOKED_AT,), generator=generator_for(flat, rng), device=flat.device)]


def _repeated(drawn: Drawn) -> list[tuple[str, Callable[[], Values]]]:
    """Numbers of other places of a line, where lines have few that are equal; and whole lines that are equal."""
    made: list[tuple[str, Callable[[], Values]]] = []
    for number in drawn.bounds:
        axes = [axis for axis, n in enumerate(drawn.base.values[number].shape) if n > 1]
        if rare := _rarely_equal(drawn, number):
            change = partial(_from_elsewhere, rare, drawn)
            made.append(("integers that come twice", partial(drawn.with_others, [number], change)))
        if len(axes) > 1 and number not in drawn.ordered:
            axis = drawn.turns.next(f"lines of {number} twice", axes, drawn.rng)
            made.append(("lines that come twice", partial(_lines_twice, drawn, number, axis)))
    return made


def _rarely_equal(drawn: Drawn, number: int) -> list[int]:
    """Axes along which draws have few equal numbers."""
    value, (low, high) = drawn.base.values[number], drawn.bounds[number]
    axes = [axis for axis, n in enumerate(value.shape) if n > 1]
    pairs = {axis: len(drawn.draws) * value.numel() * (value.shape[axis] - 1) / 2 / (high - low) for axis in axes}
    return [axis for axis in axes if pairs[axis] < EXPECTED]


def _from_elsewhere(axes: Sequence[int], drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    """At each place the number of another along one of these axes."""
    other, which = value, below(value, len(axes), drawn.rng)
    for index, axis in enumerate(axes):
        generator = generator_for(value, drawn.rng)
        places = torch.randint(value.shape[axis], value.shape, generator=generator, device=value.device)
        other = torch.where(which == index, value.gather(axis, places), other)
    return _or_with_equal_bits(other, drawn, number)


def _lines_twice(drawn: Drawn, number: int, axis: int) -> Values:
    values: Values = list(drawn.base.values)
    value: torch.Tensor = values[number]
    n, generator = value.shape[axis], generator_for(value, drawn.rng)
    values[number] = value.index_select(axis, torch.randint(n, (n,), generator=generator, device=value.device))
    return values
