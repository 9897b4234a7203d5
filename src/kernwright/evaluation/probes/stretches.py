"""Stretches of integers as no draw has them: again at another place of their line or in another input, over and over,
read from both ends, one after the other, or all one number that is asked for.

Chance draws no more than a few equal integers in a row, and those at the same place. Who looks a few places far, or at
the same place alone, is right on whatever a generator draws.
"""

from collections.abc import Callable, Collection
from functools import partial

import torch

from kernwright.evaluation.numbers import chances
from kernwright.evaluation.problem.cases import Values

from .drawn import Drawn, between, half, place, with_within
from .in_a_row import in_a_row

LEAST, NARROWEST = 8, 2
"""Integers of a line from which on it has stretches, and is looked for whole."""
SEVERAL = 3
"""Lines, from which on one of them stands for a way that few go by chance."""
MOST_PAIRS, MOST_NAMED = 3, 3
"""Pairs of inputs, and integers that are asked for."""
AGAIN, ELSEWHERE = "stretches that come again", "stretches of another input at other places"
FOLLOWING = "integers that follow each other"
"""No more of them are equal than were drawn."""
Ways = list[tuple[str, Callable[[], Values]]]


def stretch_ways(drawn: Drawn, named: Collection[int]) -> Ways:
    """`named`: integers that the reference asks for."""
    values, ways = drawn.base.values, Ways()
    free = [n for n in drawn.bounds if n not in drawn.ordered and values[n].dim()]
    for number in free:
        low, high = drawn.bounds[number]
        if values[number].shape[-1] >= LEAST:
            ways.append((AGAIN, partial(_again, drawn, number)))
            if high - low >= LEAST:
                ways.append((FOLLOWING, partial(_following, drawn, number)))
        if (some := [each for each in sorted(named) if low <= each < high]) and values[number].numel() >= LEAST:
            axes = [axis for axis, n in enumerate(values[number].shape) if n > 1]
            few = drawn.rng.sample(some, min(len(some), MOST_NAMED))
            each = [(axis, integer) for axis in axes for integer in few]
            ways += [(f"stretches of {n}", partial(_of_one, drawn, number, axis, n)) for axis, n in each]
    pairs = [(n, m) for n in free for m in drawn.bounds if n != m and values[m].dim()]
    near = [pair for pair in pairs if _has_lines_for(values[pair[1]], values[pair[0]])]
    ways += [(ELSEWHERE, partial(_of_another, drawn, *pair)) for pair in _some(drawn, near)]
    wide = [(n, m) for n, m in pairs if values[n].shape[-1] == values[m].shape[-1] >= NARROWEST and values[m].dim() > 1]
    ways += [("lines of another input", partial(_lines_of_another, drawn, *pair)) for pair in _some(drawn, wide)]
    return ways


def _some(drawn: Drawn, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return drawn.rng.sample(pairs, min(len(pairs), MOST_PAIRS))


def _has_lines_for(given: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether it has a line for each of the value's, or one for all."""
    return value.shape[-1] >= LEAST and given.shape[-1] > 1 and given.shape[:-1] in ((), value.shape[:-1])


def _again(drawn: Drawn, number: int) -> Values:
    """Each line copies a stretch of itself, is periodic from some place on, or is mirrored about some place. Of several
    one is periodic as a whole: by chance that is one of twelve."""
    value: torch.Tensor = drawn.base.values[number].long()
    n, lines = value.shape[-1], value[..., :1]
    places = torch.arange(n, device=value.device)
    length = between(drawn, lines, LEAST, n // 2)
    start, to = between(drawn, lines, 0, n - length), place(drawn, lines, n - length)
    copied = torch.where((places >= to) & (places < to + length), places + start - to, places)
    period = between(drawn, lines, 1, n // 2)
    begin = torch.where(chances(lines, drawn.rng) < 0.5, 0, between(drawn, lines, 0, n - period))
    periodic = torch.where(places >= begin, begin + (places - begin) % period, places)
    middle = between(drawn, lines, n // 4, n - n // 4)
    back = 2 * middle - places - (chances(lines, drawn.rng) < 0.5).long()
    mirrored = torch.where((places > middle) & (places <= middle + length // 2), back, places)
    way = chances(lines, drawn.rng)
    index = torch.where(way < 2 / 5, copied, torch.where(way < 3 / 4, periodic, mirrored)).clamp(0, n - 1)
    whole = (way == way.max()) & (lines.numel() >= SEVERAL or drawn.rng.random() < 0.5)
    index = torch.where(whole, places % period, index)
    return with_within(drawn, number, torch.where(half(drawn, lines) | whole, value.gather(-1, index), value))


def _following(drawn: Drawn, number: int) -> Values:
    """A stretch that rises or falls by one."""
    value: torch.Tensor = drawn.base.values[number].long()
    (low, high), n, lines = drawn.bounds[number], value.shape[-1], value[..., :1]
    length = between(drawn, lines, LEAST, min(n, high - low))
    first, to = between(drawn, lines, low, high - length), place(drawn, lines, n - length)
    places = torch.arange(n, device=value.device) - to
    rising = first + places
    made = torch.where(chances(lines, drawn.rng) < 0.5, rising, first + length - 1 - places)
    inside = (places >= 0) & (places < length) & half(drawn, lines)
    return with_within(drawn, number, torch.where(inside, made, value))


def _of_one(drawn: Drawn, number: int, axis: int, integer: int) -> Values:
    value: torch.Tensor = drawn.base.values[number].long()
    return with_within(drawn, number, value.masked_fill(in_a_row(value, axis, drawn.rng), integer))


def _of_another(drawn: Drawn, number: int, other: int) -> Values:
    """A stretch of the other's line lies at another place; it may be read from its end, or what is left to the sum of
    both bounds too, as of bases that pair. Where lines are equally long the whole of one may be turned round."""
    value, given = drawn.base.values[number].long(), drawn.base.values[other].long()
    n, m, lines = value.shape[-1], given.shape[-1], value[..., :1]
    most = min(n, m)
    length = torch.where(chances(lines, drawn.rng) < 1 / 3, most, between(drawn, lines, min(LEAST, most), most))
    way, first, ends = chances(lines, drawn.rng), chances(lines, drawn.rng) < 0.5, chances(lines, drawn.rng) < 0.5
    last = first == (
        way < 1 / 2
    )  # the one's end at the other's beginning, or two ends that are read against each other
    start = torch.where(ends, torch.where(first, 0, m - length), between(drawn, lines, 0, m - length))
    to = torch.where(ends, torch.where(last, n - length, 0), between(drawn, lines, 0, n - length))
    places = torch.arange(n, device=value.device) - to
    inside = (places >= 0) & (places < length)
    index = start + torch.where(way < 1 / 2, places, length - 1 - places)
    if n == m:
        turned = chances(lines, drawn.rng) < 1 / 3
        index, inside = torch.where(turned, (places + to + start) % m, index), inside | turned
    made = given.expand(*value.shape[:-1], m).gather(-1, index.clamp(0, m - 1))
    low, high = drawn.bounds[other]
    made = torch.where(way < 3 / 4, made, low + high - 1 - made)
    return with_within(drawn, number, torch.where(inside & half(drawn, lines), made, value))


def _lines_of_another(drawn: Drawn, number: int, other: int) -> Values:
    """At any place, as one table's are sought in another."""
    value, given = drawn.base.values[number].long(), drawn.base.values[other].long()
    known = given.reshape(-1, given.shape[-1])
    made = known[between(drawn, value[..., 0], 0, len(known) - 1)]
    return with_within(drawn, number, torch.where(half(drawn, value[..., :1]), made, value))
