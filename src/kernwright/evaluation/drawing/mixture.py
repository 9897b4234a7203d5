"""Values that differ in part from the generator's: a secret share of the timed calls gets them.

What is right, or quick, only where inputs look like the generator's shows there: most elements stay as they were drawn,
so that no look at a few of them tells which call it is. Zeros stay zero, and shapes, strides and types what they are.
"""

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernwright.evaluation.numbers import generator_for, is_number, real
from kernwright.evaluation.probes.signs import turn, turnable

from .freedom import DTYPES as COUNTED
from .freedom import Freedom

SHARE = (0.125, 0.5)
"""Least and most of an axis that is a stretch of other values."""
MANY, MOST = 4096, 4096
"""One element in so many is a spike where there are many of them, and there are no more than that."""
FEW = 3
"""Most spikes where there are few of them."""
WEIGHT = 0.05
"""A few spikes weigh as much as this share of all that is added up for one output, where the reference bears that."""
LOOKED_AT = 256
"""Places among which one is looked for that is not zero."""
ROUNDS = 3
SIGNS = "signs"
GLANCE = 4096
"""Elements that mostly tell what all of them would."""


@dataclass(frozen=True, slots=True)
class Strength:
    """By how much inputs differ: factors, and the share of a sum."""

    stretch: tuple[float, float]
    spike: tuple[float, float]
    weight: float


HEAVY = Strength(stretch=(2.0, 6.0), spike=(20.0, 60.0), weight=WEIGHT)
LIGHT = Strength(stretch=(1.5, 3.0), spike=(4.0, 8.0), weight=0.0)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Of one workload: what of its inputs may be other than drawn, and how."""

    strength: Strength | None
    """None where nothing may leave the range that the generator keeps to."""
    sizes: Mapping[int, float]
    """Root mean squares of the inputs, by number, that are changed by that strength."""
    ranged: tuple[int, ...]
    """Inputs of which the larger of several elements are taken, so that their range holds."""
    added: int
    """Input elements for each one of the outputs."""
    turned: tuple[int, ...] = ()
    """Inputs on one side of 0 of which some may be on the other."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of one call all inputs are changed in the same of these ways."""
        return (*self._larger, *((SIGNS,) if self.turned else ()))

    @property
    def _larger(self) -> tuple[str, ...]:
        if self.sizes:
            return ("stretch", "many", "few")
        return ("larger",) if self.ranged else ()

    def within_range(self) -> "Mixture":
        """The same where nothing may leave the range that the generator keeps to."""
        return replace(self, strength=None, sizes={}, ranged=(*self.sizes, *self.ranged))

    def applied(self, values: Sequence[Any], kind: str, rng: random.Random) -> list[Any]:
        """Changed copies, and whatever stays as it is."""
        made = list(values)
        if kind == SIGNS:
            stretch = rng.random() < 0.5
            for number in self.turned:
                made[number] = values[number].clone(memory_format=torch.contiguous_format)
                turn(made[number], rng, stretch=stretch)
            return made
        for number in (*self.sizes, *self.ranged):
            made[number] = values[number].clone(memory_format=torch.contiguous_format)
            self._change(made[number], number, kind, rng)
        return made

    def at_worst(self, values: Sequence[Any], rng: random.Random) -> list[Any]:
        """Changed in all ways, one on top of the other, and what is largest by as much as anything may be."""
        made = list(values)
        for number in (*self.sizes, *self.ranged):
            made[number] = values[number].clone(memory_format=torch.contiguous_format)
            flat = real(made[number]).view(-1)
            largest = torch.stack([flat.argmax(), flat.argmin()])
            drawn = flat[largest]
            for kind in self._larger:
                self._change(made[number], number, kind, rng)
            if self.strength is not None and number in self.sizes:
                flat[largest] = drawn * self.strength.spike[1]
        return made

    def _change(self, value: torch.Tensor, number: int, kind: str, rng: random.Random) -> None:
        if number not in self.sizes:
            _enlarge(value, rng)
            return
        assert self.strength is not None
        if kind == "stretch":
            _stretch(value, rng).mul_(rng.uniform(*self.strength.stretch))
            return
        count = max(1, min(value.numel() // MANY, MOST)) if kind == "many" else rng.randint(1, FEW)
        flat = value.view(-1)
        at = _places(flat, count, rng)
        factor = rng.uniform(*self.strength.spike)
        if kind == "many":
            flat[at] = flat[at] * factor
        else:
            weight = self.strength.weight * max(value.shape[-1], self.added) / count
            large = self.sizes[number] * max(factor, weight)
            sizes = 1 - torch.arange(len(at), device=value.device, dtype=torch.float64) / (8 * len(at))  # none are tied
            flat[at] = (flat[at].sgn() * sizes * min(large, torch.finfo(value.dtype).max / 4)).to(value.dtype)


def mixture(
    draws: Sequence[Sequence[Any]],
    free: Mapping[int, Freedom],
    outputs: Sequence[torch.Tensor],
    bears: Callable[[list[Any]], bool],
    rng: random.Random,
    marks: Collection[int] = (),
    away: Collection[int] = (),
) -> Mixture | None:
    """The strongest that the reference `bears`; None where it bears none, or inputs give nothing to be changed.

    `draws`: of the generator, at least two. What is the same in all of them belongs to the problem.
    `marks`: inputs that stay as they were drawn. `away`: those that keep away from 0 on purpose, on one side of it.
    """
    sizes, ranged = dict[int, float](), list[int]()
    for number, values in enumerate(zip(*draws, strict=True)):
        value = values[0]
        if number in marks:
            continue
        if not isinstance(value, torch.Tensor) or value.dim() == 0 or value.numel() < 2 or _equal(*values[:2]):
            continue
        if is_number(value):
            whole = _is_whole(value)
            ranged += [number] if whole else []
            sizes |= {} if whole else {number: _size(value)}
        elif value.dtype in COUNTED - {torch.bool} and _is_free(free.get(number)):
            ranged.append(number)
    given = sum(value.numel() for value in draws[0] if isinstance(value, torch.Tensor))
    added = given // max(1, sum(t.numel() for t in outputs))
    tries = [Mixture(strength, sizes, tuple(ranged), added) for strength in (HEAVY, LIGHT) if sizes]
    if sizes or ranged:
        tries.append(Mixture(None, {}, (*sizes, *ranged), added))
    best = next((each for each in tries if bears(each.at_worst(draws[0], rng))), None)
    turned = turnable(draws, [number for number in sizes if number not in away], bears, rng)
    return replace(best or Mixture(None, {}, (), added), turned=turned) if turned else best


def _is_free(freedom: Freedom | None) -> bool:
    """Whether an integer may be any other's of the input, and may come more than once."""
    return freedom is not None and freedom.loose


def _stretch(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    axis = rng.choice([axis for axis, n in enumerate(value.shape) if n > 1])
    length = max(1, round(value.shape[axis] * rng.uniform(*SHARE)))
    return value.narrow(axis, rng.randrange(value.shape[axis] - length + 1), length)


def _places(flat: torch.Tensor, count: int, rng: random.Random) -> torch.Tensor:
    """So many places, of which few are zero, where those are rare."""
    generator = generator_for(flat, rng)
    shape = (max(count, LOOKED_AT),)
    places = torch.randint(flat.numel(), shape, generator=generator, device=flat.device)
    return places[(flat[places] == 0).byte().argsort(stable=True)[:count]]


def _enlarge(value: torch.Tensor, rng: random.Random) -> None:
    """In a stretch, at each place the largest of several rows' elements, or of the elements of the only one."""
    rows = value if value.shape[0] > 1 else value.view(-1)
    length = max(1, round(rows.shape[0] * rng.uniform(*SHARE)))
    part = rows.narrow(0, rng.randrange(rows.shape[0] - length + 1), length)
    for _ in range(ROUNDS):
        other = rows.narrow(0, rng.randrange(rows.shape[0] - length + 1), length)
        larger = other.abs() > part.abs() if is_number(value) else other > part
        part.copy_(torch.where(larger & (part != 0), other, part))


def _equal(first: torch.Tensor, second: torch.Tensor) -> bool:
    return torch.equal(first.flatten()[:GLANCE], second.flatten()[:GLANCE]) and torch.equal(first, second)


def _is_whole(value: torch.Tensor) -> bool:
    """Whole numbers are often more than numbers: flags, counts, places."""
    if value.is_complex():
        return False
    return all(bool((v == v.round()).all()) for v in (value.flatten()[:GLANCE], value))  # mostly the first says no


def _size(value: torch.Tensor) -> float:
    value = real(value)
    wide = torch.promote_types(value.dtype, torch.float32)
    return float(torch.linalg.vector_norm(value, dtype=wide)) / math.sqrt(value.numel())
