"""Integers next to others, and lines of them that go along with others or with themselves, as chance never draws them.

Who packs a place into the last bits of a number, looks at the first sixteen of a string alone, or leaves out what is
done for rows in order, is right on whatever a generator draws.
"""

import math
from collections.abc import Callable
from functools import partial

import torch

from kernwright.evaluation.numbers import chances
from kernwright.evaluation.problem.cases import Values

from .drawn import Drawn, below, with_within

NEAR, BITS = "integers next to others", "integers a few bits from others"
"""No numbers are equal there that were not drawn so: each comes once beside another."""
NEAR_ANOTHER, BITS_OF_ANOTHER = "integers near another input's", "integers a few bits from another input's"
FAR = 1 << 30
"""From so many integers between the bounds on there is room beside each."""
LEAST, MOST_PAIRS, MOST_OTHERS = 8, 3, 4
"""Places of a line of which something can be said, pairs of inputs, and places in which two lines differ."""
MOST_BITS, MORE = 4, 0.75
"""Bits in which two integers differ, and how likely another bit is."""
Change = Callable[[Drawn, int, torch.Tensor], torch.Tensor]
"""Makes other integers of those of an input, by its number."""
Ways = list[tuple[str, Callable[[], Values]]]


def near_ways(drawn: Drawn) -> Ways:
    """In one input those of other places, a little larger or smaller or with a few other bits; and at each place those
    of another input so. One after the other: large differences would hide what is wrong with small ones."""
    wide = [n for n, (low, high) in drawn.bounds.items() if n not in drawn.ordered and high - low >= FAR]
    wide = [n for n in wide if drawn.base.values[n].numel() > 1]
    pairs, ways = _pairs(drawn, wide), Ways()
    for change, own, other in ((_beside, NEAR, NEAR_ANOTHER), (_with_other_bits, BITS, BITS_OF_ANOTHER)):
        ways += [(own, partial(_near_others, drawn, change, number)) for number in wide]
        ways += [(other, partial(_near_another, drawn, change, n, m)) for n, m in pairs]
    return ways


def line_ways(drawn: Drawn) -> Ways:
    """In half of an input's lines along its last axis."""
    values = drawn.base.values
    numbers = [n for n in drawn.bounds if n not in drawn.ordered and values[n].dim() and values[n].shape[-1] >= LEAST]
    ways: Ways = []
    for number in numbers:
        low, high = drawn.bounds[number]
        ways.append(("lines that are the same from both ends", partial(_mirrored, drawn, number)))
        if high - low > values[number].shape[-1]:
            ways.append(("lines in strict order", partial(_strict, drawn, number)))
        if values[number].dim() > 1 and values[number].shape[0] > 1:
            ways.append(("lines that agree in part with others", partial(_agreeing, drawn, number, number)))
            ways.append(("lines that are others turned round", partial(_turned, drawn, number, number)))
    for pair in _pairs(drawn, numbers):
        ways.append(("lines that agree in part with another input's", partial(_agreeing, drawn, *pair)))
        ways.append(("lines that are another input's turned round", partial(_turned, drawn, *pair)))
    return ways


def _pairs(drawn: Drawn, numbers: list[int]) -> list[tuple[int, int]]:
    values = drawn.base.values
    pairs = [(n, m) for n in numbers for m in numbers if n != m and values[n].shape == values[m].shape]
    return drawn.rng.sample(pairs, min(len(pairs), MOST_PAIRS))


def _near_others(drawn: Drawn, change: Change, number: int) -> Values:
    value: torch.Tensor = drawn.base.values[number].long()
    axes = [axis for axis, n in enumerate(value.shape) if n > 1]
    axis = drawn.turns.next(f"{NEAR}, input {number}", axes, drawn.rng)
    other = value.roll(drawn.rng.randrange(1, value.shape[axis]), axis)
    return with_within(drawn, number, torch.where(_half(drawn, value), change(drawn, number, other), value))


def _near_another(drawn: Drawn, change: Change, number: int, other: int) -> Values:
    return with_within(drawn, number, change(drawn, number, drawn.base.values[other].long()))


def _beside(drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    """Larger or smaller by any power of two up to the root of what is between the bounds."""
    low, high = drawn.bounds[number]
    by = torch.ones_like(value) << (chances(value, drawn.rng) * (math.log2(high - low) / 2)).long()
    return torch.where(_half(drawn, value), value + by, value - by)


def _with_other_bits(drawn: Drawn, number: int, value: torch.Tensor) -> torch.Tensor:
    """One to four of those that tell the integers between the bounds apart are others."""
    low, high = drawn.bounds[number]
    made = value
    for turn in range(MOST_BITS):
        other = made ^ (torch.ones_like(value) << (chances(value, drawn.rng) * math.log2(high - low)).long())
        made = torch.where((chances(value, drawn.rng) < MORE) | (turn == 0), other, made)
    return torch.where(made == value, value ^ 1, made)


def _strict(drawn: Drawn, number: int) -> Values:
    """Rising or falling, by one or by any number."""
    value: torch.Tensor = drawn.base.values[number].long()
    (low, high), length = drawn.bounds[number], value.shape[-1]
    lines = value[..., :1]
    steps = torch.where(_half(drawn, lines), 1, below(value, (high - low - 1) // length, drawn.rng) + 1)
    rising = steps.cumsum(-1) - steps[..., :1]
    start = (chances(lines, drawn.rng).double() * (high - low - rising[..., -1:])).long()
    line = low + start + rising
    line = torch.where(_half(drawn, lines), line, line.flip(-1))
    return with_within(drawn, number, torch.where(_half(drawn, lines), line, value))


def _mirrored(drawn: Drawn, number: int) -> Values:
    value: torch.Tensor = drawn.base.values[number].long()
    length = value.shape[-1]
    first = torch.arange(length, device=value.device) < (length + 1) // 2
    line = torch.where(first, value, value.flip(-1))
    return with_within(drawn, number, torch.where(_half(drawn, value[..., :1]), line, value))


def _agreeing(drawn: Drawn, number: int, other: int) -> Values:
    """Up to some place, or everywhere but at a few."""
    value, given = _lines_and_others(drawn, number, other)
    lines, places = value[..., :1], torch.arange(value.shape[-1], device=value.device)
    agrees = torch.ones_like(value, dtype=torch.bool)
    others = below(lines, MOST_OTHERS, drawn.rng)  # as often one as several: each tells of other kernels
    for turn in range(MOST_OTHERS):
        agrees &= (turn > others) | (places != below(lines, value.shape[-1], drawn.rng))
    end = below(lines, value.shape[-1], drawn.rng)
    agrees = torch.where(_half(drawn, lines), places < end, agrees)
    return with_within(drawn, number, torch.where(agrees & _half(drawn, lines), given, value))


def _turned(drawn: Drawn, number: int, other: int) -> Values:
    """Read from any place on, as often backwards."""
    value, given = _lines_and_others(drawn, number, other)
    lines, length = value[..., :1], value.shape[-1]
    places = (torch.arange(length, device=value.device) + below(lines, length, drawn.rng)) % length
    places = torch.where(_half(drawn, lines), places, places.flip(-1))
    return with_within(drawn, number, torch.where(_half(drawn, lines), given.gather(-1, places), value))


def _lines_and_others(drawn: Drawn, number: int, other: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of an input, and those of other places of it or of another one."""
    value: torch.Tensor = drawn.base.values[number].long()
    if other != number:
        return value, drawn.base.values[other].long()
    return value, value.roll(drawn.rng.randrange(1, value.shape[0]), 0)


def _half(drawn: Drawn, like: torch.Tensor) -> torch.Tensor:
    return chances(like, drawn.rng) < 0.5
