"""In what ways inputs of integers and truth values may be rearranged, by what all draws of them have in common.

Integers are places, lengths, labels, tokens: another number may be out of range, another order no order at all. So
values only change places with others of the same input, and only where draws look as if no place were special, and
were made so that none is.
"""

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernwright.evaluation.numbers import generator_for

from .provenance import EXCHANGEABLE, INDEPENDENT, SORTED, Origins, kind_of

SEEN = "seen"
"""Nobody knows how it was made."""
DTYPES = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
DEVIATIONS = 5.0
"""Beyond so many standard deviations, what neighbours have in common is no chance."""
UNEVEN = 1e-3
"""Chance below which places do not draw from the same numbers."""
FEW, FEW_EACH = 8, 24
LINES = 64
"""Lines that are looked at for whether no number comes twice in one."""
EXPECTED = 5.0
"""Where so many pairs of equal numbers are expected and none is found, none is allowed."""
CROWDED = 4
"""Numbers in order of which each comes so often, on average, say what belongs together; others may be places."""
BLUR = 8
"""An arrangement by size is in order but for about this share of an axis, so that it is not seen to be one."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """Of one input."""

    axes: tuple[int, ...]
    """Which may have another order, all lines the same, the longest first."""
    lines: tuple[int, ...]
    """Along which every line may have another order of its own."""
    exchange: bool
    """Whether all elements may be the least or the largest that several draws have at their places."""
    loose: bool
    """Whether each element may be that of any draw at its place, whatever its neighbours are."""
    complete: bool
    """Whether draws hold all the numbers of a range, each once: there is nothing else to be drawn."""

    def shuffled(self, value: torch.Tensor, rng: random.Random) -> torch.Tensor:
        """Every axis in another order, the same for all lines."""
        for axis in self.axes:
            value = value.index_select(axis, _order(value, axis, rng, 1.0))
        return value

    def by_size(self, value: torch.Tensor, rng: random.Random, axis: int, *, largest_last: bool) -> torch.Tensor:
        """The numbers of every line about in order; `axis`: one of `lines`."""
        plain = value.view(torch.uint8) if value.dtype == torch.bool else value
        ordered = plain.sort(dim=axis, descending=not largest_last).values.view(value.dtype)
        return ordered.index_select(axis, _order(value, axis, rng, 1 / BLUR))


def freedoms(
    draws: Sequence[Sequence[Any]], *, marks: Collection[int] = (), origins: Origins | None = None
) -> dict[int, Freedom]:
    """Those of the inputs of integers that have any, by number; `draws`: at least two, or nothing is known.

    `marks`: floating inputs that are like them. `origins`: how they were made; without that draws alone tell.
    """
    if len(draws) < 2:
        return {}
    counted = {n: v for n, v in enumerate(zip(*draws, strict=True)) if n in marks or all(map(_is_counted, v))}
    drawn = {n: each for n, each in counted.items() if not all(torch.equal(each[0], v) for v in each[1:])}
    found = {}
    for number, values in drawn.items():
        kind = SEEN if origins is None else kind_of(origins, number)
        if kind == SEEN and any(_bounded(values, other) for n, other in counted.items() if n != number):
            continue
        freedom = _freedom(values, kind) if kind in (SEEN, INDEPENDENT, EXCHANGEABLE) else None
        if freedom is not None:
            found[number] = freedom
    if origins is not None:
        return found
    complete = [number for number, freedom in found.items() if freedom.complete]
    # Several orders of the same things may be one and its inverse.
    return found if len(complete) < 2 else {n: freedom for n, freedom in found.items() if n not in complete}


def freedoms_with_marks(
    draws: Sequence[Sequence[Any]], marks: Collection[int], bound: Collection[int], origins: Origins
) -> dict[int, Freedom]:
    """The same; and of floating inputs whose numbers are marks, where each was drawn on its own, or where there is
    one alone and no integers that it may hang with.

    `bound`: inputs whose numbers have places of their own.
    """
    alone = len(marks) == 1 and not holds_integers(draws[0])
    usable = [n for n in marks if n not in bound and (alone or kind_of(origins, n) == INDEPENDENT)]
    finite = [n for n in usable if all(bool(torch.isfinite(values[n]).all()) for values in draws)]
    return freedoms(draws, marks=finite, origins=origins)


def alike(draws: Sequence[Sequence[Any]], free: dict[int, Freedom], origins: Origins) -> tuple[int, ...]:
    """Inputs of integers and truth values, by number, of which all may be the same number of those that were drawn.

    Those whose elements may be any that were drawn, and those in order that say what belongs together.
    """
    counted = {n: v for n, v in enumerate(zip(*draws, strict=True)) if all(map(_is_counted, v))}
    drawn = {n: each for n, each in counted.items() if not all(torch.equal(each[0], v) for v in each[1:])}
    found = [n for n, freedom in free.items() if freedom.exchange]
    found += [n for n, v in drawn.items() if kind_of(origins, n) == SORTED and all(map(_groups, v))]
    return tuple(sorted(found))


def _groups(value: torch.Tensor) -> bool:
    if value.dtype == torch.bool or value.shape[-1] < CROWDED * _range(value):
        return False
    return bool((value.narrow(-1, 1, value.shape[-1] - 1) >= value.narrow(-1, 0, value.shape[-1] - 1)).all())


def lower(values: Sequence[torch.Tensor]) -> torch.Tensor:
    """At each place the least of several draws."""
    return _joined(values, torch.minimum)


def higher(values: Sequence[torch.Tensor]) -> torch.Tensor:
    """At each place the largest of several draws."""
    return _joined(values, torch.maximum)


def picked(values: Sequence[torch.Tensor], rng: random.Random) -> torch.Tensor:
    """At each place the number of one of two draws."""
    first, second = rng.sample(list(values), 2)
    generator = generator_for(first, rng)
    choice = torch.randint(0, 2, first.shape, generator=generator, device=first.device, dtype=torch.int8)
    return torch.where(choice.bool(), first, second)


def all_distinct(value: torch.Tensor) -> bool:
    """Whether no number comes twice."""
    if value.numel() > _range(value):
        return False
    flat = as_numbers(value).flatten().sort().values
    return not bool((flat[1:] == flat[:-1]).any())


def _freedom(values: Sequence[torch.Tensor], kind: str) -> Freedom | None:
    shape = values[0].shape
    axes = tuple(sorted((a for a, n in enumerate(shape) if n > 1), key=lambda a: -shape[a]))
    if kind == INDEPENDENT:
        return Freedom(axes=axes, lines=axes, exchange=True, loose=True, complete=False)
    even = tuple(axis for axis in axes if _even(values, axis))
    if not even or not all(_unordered(values, axis) for axis in even):
        return None
    complete = all(value.numel() == _range(value) and all_distinct(value) for value in values)
    fixed = {axis for axis in axes if _fixed_sum(values, axis) or _lines_distinct(values, axis)}
    exchange = kind == SEEN and not fixed and not complete
    # Of an order it is known that there is one, not along which axis.
    any_line = kind == SEEN or len(axes) == 1
    return Freedom(
        axes=even,
        lines=tuple(axis for axis in even if fixed == {axis} or (any_line and not fixed)),
        exchange=exchange,
        loose=exchange and len(even) == len(axes),
        complete=complete,
    )


def _unordered(values: Sequence[torch.Tensor], axis: int) -> bool:
    """Whether neighbours along an axis are no more alike, and rise no more often than they fall, than by chance."""
    up = down = alike = apart = 0
    n = values[0].shape[axis]
    step = n // 2
    for value in map(as_numbers, values):
        left, right = value.narrow(axis, 0, n - 1), value.narrow(axis, 1, n - 1)
        up, down = up + int((right > left).sum()), down + int((right < left).sum())
        alike += int((right == left).sum())
        apart += int((value.roll(step, axis) == value).sum()) if n > 3 else 0
    if not (up and down):
        return False
    pairs, lines = up + down, len(values) * values[0].numel() // n
    if abs(up - down) > DEVIATIONS * math.sqrt((pairs + lines) / 3):
        return False
    expected = apart * (n - 1) / n
    return n <= 3 or abs(alike - expected) <= DEVIATIONS * math.sqrt(alike + expected + 1)


def _even(values: Sequence[torch.Tensor], axis: int) -> bool:
    """Whether all places of an axis draw from the same numbers, as coordinates of several kinds do not.

    Of a few places with few numbers each nobody knows.
    """
    others = [a for a in range(values[0].dim()) if a != axis]
    plain = [as_numbers(value) for value in values]
    extremes = [(v.amin(others), v.amax(others)) if others else (v, v) for v in plain]
    least = torch.stack([low for low, _ in extremes]).amin(0).max()
    most = torch.stack([high for _, high in extremes]).amax(0).min()
    places = values[0].shape[axis]
    if places < FEW and sum(v.numel() for v in plain) < FEW_EACH * places:
        return False
    below, above = sum(int((v < least).sum()) for v in plain), sum(int((v > most).sum()) for v in plain)
    # That none of a place's numbers is among those: about exp(-their number / places).
    return max(below, above) / places <= math.log(places / UNEVEN)


def _fixed_sum(values: Sequence[torch.Tensor], axis: int) -> bool:
    """Whether every line has the same sum, as lengths have that fill a buffer."""
    sums = torch.cat([as_numbers(value).sum(axis, dtype=torch.int64).flatten() for value in values])
    return sums.numel() > 1 and bool((sums == sums[0]).all())


def _lines_distinct(values: Sequence[torch.Tensor], axis: int) -> bool:
    """Whether no number comes twice in a line, and not by chance."""
    n, pairs, found = values[0].shape[axis], 0.0, False
    for value in map(as_numbers, values):
        lines = value.movedim(axis, -1).reshape(-1, n)[:LINES]
        pairs += len(lines) * n * (n - 1) / 2 / _range(value)
        if n <= _range(value):
            ordered = lines.sort(dim=-1).values
            found = found or bool((ordered[:, 1:] == ordered[:, :-1]).any())
        else:
            found = True
        if found:
            return False
    return pairs >= EXPECTED


def _bounded(values: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    """Whether one input is nowhere larger than the other, or smaller: the starts and the ends of something."""
    if values[0].shape != other[0].shape or torch.bool in (values[0].dtype, other[0].dtype):
        return False
    compared = list(zip(values, other, strict=True))
    return any(all(bool(below(a, b).all()) for a, b in compared) for below in (torch.le, torch.ge))


def _order(value: torch.Tensor, axis: int, rng: random.Random, blur: float) -> torch.Tensor:
    n = value.shape[axis]
    generator = generator_for(value, rng)
    noise = torch.rand(n, generator=generator, device=value.device, dtype=torch.float64)
    place = torch.arange(n, device=value.device, dtype=torch.float64) / n
    return (noise * blur + place * (1 - blur)).argsort() if blur < 1 else noise.argsort()


def _joined(values: Sequence[torch.Tensor], join: Callable[[torch.Tensor, torch.Tensor], Any]) -> torch.Tensor:
    joined = as_numbers(values[0])
    for value in values[1:]:
        joined = join(joined, as_numbers(value))
    return joined.view(values[0].dtype)


def _range(value: torch.Tensor) -> int:
    low, high = map(int, as_numbers(value).aminmax())
    return high - low + 1


def holds_integers(values: Sequence[Any]) -> bool:
    """Whether an input is of integers or truth values."""
    return any(isinstance(value, torch.Tensor) and value.dtype in DTYPES for value in values)


def as_numbers(value: torch.Tensor) -> torch.Tensor:
    """Truth values as numbers."""
    return value.view(torch.uint8) if value.dtype == torch.bool else value


def _is_counted(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in DTYPES and value.numel() > 1
