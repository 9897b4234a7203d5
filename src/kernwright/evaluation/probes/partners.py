"""Integers beside their partners: a stretch before its mirror image, in which each is another one, as brackets and
bases pair; and stretches that add up to one number with those of another input, as a carry runs through.

Chance draws them a few deep: who keeps so much of what is open, or carries so far, is right on what a generator draws.
"""

from collections.abc import Callable
from functools import partial

import torch

from kernwright.evaluation.numbers import chances
from kernwright.evaluation.problem.cases import Values

from .drawn import Drawn, between, half, place, with_within

SHORTEST, LEAST = 8, 4
"""Integers of a line from which on it has such stretches; of a stretch, before its mirror image."""
MOST_PAIRS = 3
"""Pairs of inputs."""
MIRRORED, ADDING_UP = "stretches before their mirrored partners", "stretches that add up with another input's"
Ways = list[tuple[str, Callable[[], Values]]]


def partner_ways(drawn: Drawn) -> Ways:
    """Labels, and what makes values."""
    values = drawn.base.values
    free = [n for n in drawn.bounds if n not in drawn.ordered and values[n].dim() and values[n].shape[-1] >= SHORTEST]
    some = [n for n in free if drawn.bounds[n][1] - drawn.bounds[n][0] > 1]
    pairs = [(n, m) for n in some for m in drawn.bounds if n != m and values[n].shape == values[m].shape]
    few = drawn.rng.sample(pairs, min(len(pairs), MOST_PAIRS))
    ways: Ways = [(MIRRORED, partial(_mirrored, drawn, number)) for number in some]
    return [*ways, *((ADDING_UP, partial(_adding_up, drawn, *pair)) for pair in few)]


def _mirrored(drawn: Drawn, number: int) -> Values:
    """In half of the lines as long as there is room. Before its image a stretch is as drawn, or of those integers alone
    that come first of their two, as brackets that open, or of one number; that one also comes before any other."""
    value: torch.Tensor = drawn.base.values[number].long()
    (low, high), n, lines = drawn.bounds[number], value.shape[-1], value[..., :1]
    length = torch.where(chances(lines, drawn.rng) < 0.5, n // 2, between(drawn, lines, LEAST, n // 2))
    start = place(drawn, lines, n - 2 * length)
    places = torch.arange(n, device=value.device)
    image = places >= start + length
    kind = chances(lines, drawn.rng)
    source = torch.where(image, 2 * (start + length) - 1 - places, places)
    given = value.gather(-1, torch.where(kind < 1 / 2, start, source).clamp(0, n - 1))
    first, second = _pairs(drawn, number, given)
    before = torch.where((kind < 1 / 4) | (kind > 3 / 4), given, first)
    after = torch.where(before == first, second, first)
    after = torch.where(kind < 1 / 4, between(drawn, lines, low, high - 1), after)
    inside = (places >= start) & (places < start + 2 * length) & half(drawn, lines)
    return with_within(drawn, number, torch.where(inside, torch.where(image, after, before), value))


def _pairs(drawn: Drawn, number: int, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each integer the first of the two that pair, and the second: neighbours, or one of the lower half and one of
    the upper in the same order, or in the opposite one. In a line all pair in one way."""
    (low, high), lines = drawn.bounds[number], given[..., :1]
    way, odd = chances(lines, drawn.rng), (chances(lines, drawn.rng) < 0.5).long()
    neighbour = given - (given - low - odd) % 2
    apart = (high - low) // 2
    lower = low + (given - low) % apart
    opposite = torch.minimum(given, low + high - 1 - given)
    first = torch.where(way < 1 / 3, neighbour, torch.where(way < 2 / 3, lower, opposite))
    second = torch.where(way < 1 / 3, neighbour + 1, torch.where(way < 2 / 3, lower + apart, low + high - 1 - opposite))
    turned = chances(lines, drawn.rng) < 1 / 4
    return torch.where(turned, second, first), torch.where(turned, first, second)


def _adding_up(drawn: Drawn, number: int, other: int) -> Values:
    """At the same places what is left to the sum of both bounds, or the same. What lies before stays as drawn, so that
    a carry, or a borrow, comes in about as often as not."""
    value, given = drawn.base.values[number].long(), drawn.base.values[other].long()
    n, lines = value.shape[-1], value[..., :1]
    length = torch.where(chances(lines, drawn.rng) < 1 / 3, n - 1, between(drawn, lines, LEAST, n - 1))
    start, places = place(drawn, lines, n - length), torch.arange(n, device=value.device)
    low, high = drawn.bounds[other]
    made = torch.where(chances(lines, drawn.rng) < 1 / 2, low + high - 1 - given, given)
    inside = (places >= start) & (places < start + length) & half(drawn, lines)
    return with_within(drawn, number, torch.where(inside, made, value))
