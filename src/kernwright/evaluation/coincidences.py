"""Integers that chance hardly ever draws: the same one in two inputs, one that comes twice, one that is asked for.

Where draws are so many that chance had to bring them and did not, they are none of the problem's.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .cases import Case, Values
from .freedom import EXPECTED, UNEVEN, Freedom
from .probe import generator_for
from .setting import Setting
from .shortage import where_possible

HALF, FEW = 0.5, 3
"""The share of an input's places that are changed, or the most single ones."""
COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
ASKED = frozenset({"padding_idx", "ignore_index"})
"""Arguments of PyTorch's functions that give one integer a meaning of its own."""
MOST_ASKED, MOST_PAIRS, MOST_LOOKED_AT = 8, 3, 1 << 16


@dataclass(frozen=True, slots=True)
class Coincidence:
    """Of an input's places many or a few get other numbers."""

    label: str
    number: int
    """Of the input that is changed."""
    make: Callable[[], torch.Tensor]
    many: bool
    """So many that equal ones may be beside each other, which is nothing where their order decides."""

    def values(self, base: Case) -> Values:
        """The case's, with it."""
        values = list(base.values)
        values[self.number] = self.make()
        return values


def coincidences(setting: Setting, base: Case, draws: Sequence[Values], rng: random.Random) -> list[Coincidence]:
    """All that no draw settles; `draws`: at least two."""
    seen = {n: [v[n] for v in draws] for n, f in setting.free.items() if f.loose and _is_integers(base.values[n])}
    if not seen:
        return []
    found = list(_repeated(setting.free, base, seen, rng))
    pairs = [(n, m) for n in seen for m, v in enumerate(base.values) if m != n and _is_integers(v)]
    for number, other in rng.sample(pairs, len(pairs))[:MOST_PAIRS]:
        found += _met(base, number, other, draws, rng)
    asked = _asked(setting, base)
    for number, values in seen.items():
        found += _named(base, values, asked, number, rng)
    return [each for each in found if not _is_settled(setting.free[each.number])]


def _is_settled(freedom: Freedom) -> bool:
    return freedom.distinct and not freedom.by_chance


def _is_integers(value: Any) -> bool:
    whole = isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex())
    return whole and value.dtype != torch.bool and value.numel() > 1


def _repeated(
    free: dict[int, Freedom], base: Case, seen: dict[int, list[torch.Tensor]], rng: random.Random
) -> Iterator[Coincidence]:
    for number, values in seen.items():
        axes = [axis for axis in free[number].lines or free[number].axes if _pairs(values, axis) < EXPECTED]
        if axes:
            make = partial(_from_elsewhere, base.values[number], rng.choice(axes), rng)
            yield Coincidence("integers that come twice", number, make, many=True)


def _pairs(values: Sequence[torch.Tensor], axis: int) -> float:
    """How many pairs of equal numbers lines along an axis would have by chance."""
    low, high = _least_and_most(values)
    return sum(value.numel() * (value.shape[axis] - 1) / 2 / (high - low + 1) for value in values)


def _from_elsewhere(value: torch.Tensor, axis: int, rng: random.Random) -> torch.Tensor:
    """At half the places the number of another place of the same line."""
    generator = generator_for(value, rng)
    shape, n = value.shape, value.shape[axis]
    places = torch.randint(n, shape, generator=generator, device=value.device)
    return torch.where(_places(value, rng, many=True), value.gather(axis, places), value)


def _met(base: Case, number: int, other: int, draws: Sequence[Values], rng: random.Random) -> Iterator[Coincidence]:
    """Numbers of another input, at their places where it has the same shape, and at any."""
    value, given = base.values[number], base.values[other]
    pairs = [(values[number], values[other]) for values in draws]
    at_place = [_chance_of(*pair) for pair in pairs] if value.shape == given.shape else []
    anywhere = [_chance_of_any(*pair, rng) for pair in pairs]
    if _never(at_place) or _never(anywhere):
        return
    low, high = _least_and_most([own for own, _ in pairs])

    def met(placed: bool, many: bool) -> torch.Tensor:
        generator = generator_for(value, rng)
        any_place = torch.randint(given.numel(), value.shape, generator=generator, device=value.device)
        integers = given if placed else given.flatten()[any_place]
        usable = (integers >= low) & (integers <= high)
        return torch.where(usable & _places(value, rng, many=many), integers.to(value.dtype), value)

    for placed, chances in ((True, at_place), (False, anywhere)):
        if chances and sum(found for found, _ in chances) < EXPECTED:
            for many in (True, False):
                label = f"{'many' if many else 'few'} integers of another input"
                yield Coincidence(label, number, partial(met, placed, many), many=many)


def _never(chances: Sequence[tuple[int, float]]) -> bool:
    """Whether chance had to bring some, and did not."""
    return sum(expected for _, expected in chances) >= EXPECTED and not any(found for found, _ in chances)


def _chance_of(own: torch.Tensor, other: torch.Tensor) -> tuple[int, float]:
    """How many places hold the same number, and how many would by chance."""
    low, high = _least_and_most([own, other])
    return int((own == other).sum()), own.numel() / (high - low + 1)


def _chance_of_any(own: torch.Tensor, other: torch.Tensor, rng: random.Random) -> tuple[int, float]:
    """The same of numbers that stand anywhere in the other."""
    low, high = _least_and_most([own, other])
    own, other = _some(own, rng), _some(other, rng)
    return int(torch.isin(own, other).sum()), own.numel() * min(1.0, other.numel() / (high - low + 1))


def _some(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    flat = value.flatten()
    if len(flat) <= MOST_LOOKED_AT:
        return flat
    return flat[torch.randint(len(flat), (MOST_LOOKED_AT,), generator=generator_for(flat, rng), device=flat.device)]


def _named(
    base: Case, own: Sequence[torch.Tensor], asked: Sequence[int], number: int, rng: random.Random
) -> Iterator[Coincidence]:
    """Integers that the reference asks for, where draws may as well have had them, and had few."""
    value, usable = base.values[number], [n for n in asked if _may_be_drawn(n, own)]

    def put(integer: int, many: bool) -> torch.Tensor:
        return torch.where(_places(value, rng, many=many), torch.full_like(value, integer), value)

    for integer in rng.sample(usable, min(len(usable), MOST_ASKED)):
        for many in (True, False):
            label = f"{'many' if many else 'few'} integers {integer}"
            yield Coincidence(label, number, partial(put, integer, many), many=many)


def _may_be_drawn(integer: int, own: Sequence[torch.Tensor]) -> bool:
    """Whether it lies among those that were drawn, or so little below that chance may have left it out; few are known.

    Nothing above them: it may be no place any more.
    """
    low, high = _least_and_most(own)
    if integer > high or sum(int((value == integer).sum()) for value in own) >= EXPECTED:
        return False
    missed = max(0, low - integer) / (high - integer + 1) * sum(value.numel() for value in own)
    return integer >= 0 and missed <= math.log(1 / UNEVEN)


def _least_and_most(values: Sequence[torch.Tensor]) -> tuple[int, int]:
    pairs = [tuple(map(int, value.aminmax())) for value in values]
    return min(low for low, _ in pairs), max(high for _, high in pairs)


def _places(value: torch.Tensor, rng: random.Random, *, many: bool) -> torch.Tensor:
    generator = generator_for(value, rng)
    if many:
        return torch.rand(value.shape, generator=generator, device=value.device) < HALF
    places = torch.zeros(value.numel(), dtype=torch.bool, device=value.device)
    places[torch.randint(value.numel(), (rng.randint(1, FEW),), generator=generator, device=value.device)] = True
    return places.view(value.shape)


def _asked(setting: Setting, base: Case) -> list[int]:
    """Integers that the reference compares integers with, and their neighbours where it asks for an order."""
    watch = _Watch()

    def watched() -> list[int]:
        with watch:
            setting.reference.outputs(setting.model, base.values)
        return sorted(watch.integers)

    return where_possible(setting.reference, watched) or []


class _Watch(TorchFunctionMode):
    """What tensors of integers are compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.integers = set[int]()

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, given = getattr(func, "__name__", "").strip("_"), {**(kwargs or {})}
        if name in COMPARED and any(map(_is_integers, args)):
            integers = [number for each in [*args, *given.values()] for number in _integers_of(each, 1)]
            near = (0,) if name in ("eq", "ne") else (-1, 0, 1)
            self.integers.update(number + step for number in integers for step in near)
        elif name == "isin":
            self.integers.update(number for each in args for number in _integers_of(each, MOST_ASKED))
        for key in ASKED & given.keys():
            self.integers.update(_integers_of(given[key], 1))
        return func(*args, **(kwargs or {}))


def _integers_of(given: Any, most: int) -> list[int]:
    if isinstance(given, int) and not isinstance(given, bool):
        return [given]
    if (
        isinstance(given, torch.Tensor)
        and given.numel() <= most
        and not (given.is_floating_point() or given.is_complex())
    ):
        return [int(number) for number in given.flatten()]
    return []
