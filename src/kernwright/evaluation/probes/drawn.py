"""Integers of which any between known bounds might have been drawn at any place."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from kernwright.evaluation.numbers import generator_for
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
