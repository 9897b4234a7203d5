"""Numbers of the other sign, in inputs that keep to one side of 0 though nothing says that they have to.

The numbers of `torch.rand` are never negative, and no kernel may rely on it where the reference has an answer for those
that are. A few single ones, or a short stretch, are other than drawn in sign alone, so that a look at a sample of them
does not tell.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kernwright.evaluation.numbers import generator_for

FEW = 3
"""Most single numbers that are turned."""
LENGTHS = (2, 16)
"""Numbers of a stretch, one beside the other."""


def turnable(
    draws: Sequence[Sequence[Any]], numbers: Sequence[int], bears: Callable[[list[Any]], bool], rng: random.Random
) -> tuple[int, ...]:
    """Of these inputs those that keep to one side of 0 in all draws, and whose other side the reference `bears`.

    Each alone and all together, all of their numbers and half of them.
    """
    sided = [n for n in numbers if _one_sided([values[n] for values in draws])]
    borne = tuple(n for n in sided if _borne(draws[0], [n], bears, rng))
    return borne if len(borne) < 2 or _borne(draws[0], borne, bears, rng) else ()


def turn(value: torch.Tensor, rng: random.Random, *, stretch: bool) -> None:
    """Turn a few numbers of a contiguous tensor where they lie, or a stretch of them."""
    flat = value.view(-1)
    if stretch:
        length = min(rng.randint(*LENGTHS), flat.numel())
        flat.narrow(0, rng.randrange(flat.numel() - length + 1), length).neg_()
        return
    for place in {rng.randrange(flat.numel()) for _ in range(rng.randint(1, FEW))}:
        flat[place].neg_()


def _one_sided(values: Sequence[torch.Tensor]) -> bool:
    if values[0].is_complex():
        return False
    bounds = [value.aminmax() for value in values]
    low, high = min(float(low) for low, _ in bounds), max(float(high) for _, high in bounds)
    return low < high and (low >= 0 or high <= 0)


def _borne(
    drawn: Sequence[Any], numbers: Sequence[int], bears: Callable[[list[Any]], bool], rng: random.Random
) -> bool:
    for share in (1.0, 0.5):
        values = list(drawn)
        for number in numbers:
            value = drawn[number]
            generator = generator_for(value, rng)
            chosen = torch.rand(value.shape, generator=generator, device=value.device) < share
            values[number] = torch.where(chosen, -value, value)
        if not bears(values):
            return False
    return True
