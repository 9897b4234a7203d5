"""Integers of which any between known bounds might have been drawn at any place."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from kernwright.evaluation.numbers import chances, generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.turns import Turns

MANY, SOME = 0.5, 0.02
"""Shares of the places that are changed."""
Change = Callable[[int, torch.Tensor], torch.Tensor]
"""Makes other integers of those of an input, by its number."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Inputs of which any integer between the bounds might have been drawn at any place."""

    base: Case
    draws: Sequence[Values]
    bounds: dict[int, tuple[int, int]]
    """The least, and the first that is too large, by the input's number."""
    ordered: frozenset[int]
    """Those that were put in order after that."""
    rng: random.Random
    turns: Turns

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


def with_within(drawn: Drawn, number: int, made: torch.Tensor) -> Values:
    """The base with these integers in an input wherever they are within the bounds."""
    values: Values = list(drawn.base.values)
    value, (low, high) = values[number], drawn.bounds[number]
    values[number] = torch.where((made >= low) & (made < high), made, value.long()).to(value.dtype)
    return values


def below(like: torch.Tensor, most: int, rng: random.Random) -> torch.Tensor:
    """Integers of this shape from 0 on, none as large as that."""
    return torch.randint(most, like.shape, generator=generator_for(like, rng), device=like.device)


def place(drawn: Drawn, lines: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """From 0 to this one; the first and the last come as often as the others together."""
    chance = chances(lines, drawn.rng)
    return torch.where(chance < 1 / 4, 0, torch.where(chance > 3 / 4, last, between(drawn, lines, 0, last)))


def between(drawn: Drawn, like: torch.Tensor, least: int, most: int | torch.Tensor) -> torch.Tensor:
    """Of this shape, both ends included."""
    span = torch.as_tensor(most, device=like.device) - least + 1
    return least + (chances(like, drawn.rng).double() * span.clamp(min=1)).long()


def half(drawn: Drawn, lines: torch.Tensor) -> torch.Tensor:
    """Of the lines so many, one at the least."""
    chance = chances(lines, drawn.rng)
    return (chance < 0.5) | (chance == chance.min())
