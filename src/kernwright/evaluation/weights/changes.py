"""Parameters and buffers that the results of a kernel have to follow, and other values for them."""

import math
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import torch

from kernwright.evaluation.drawing.freedom import Freedom, freedoms
from kernwright.evaluation.drawing.regularity import Regularity, is_definite, marks, orders_of, regularities
from kernwright.evaluation.numbers import generator_for, is_number, is_short, same_bytes
from kernwright.evaluation.runner.structure import distinct, overlaps

from .otherwise import Change, as_matrices, coin, stretched
from .state import is_constant, state_of
from .together import Bound, bound

STRETCH = 64
"""One in so many elements of each weight changes, in one piece, which the results of a deep network still show."""
BLANK, MOST_CODE = (torch.int8, torch.bool), 9
"""Codes and flags that may be one number at their start, as zero points and masks are, and by how much codes change.
Not those that are places: a device does not survive one that is none."""
SPIKE = 8.0
"""And then one element alone, by so many times the mean size: who samples a weight to see whether it changed misses
that, and who reads all of it has saved nothing."""
TINY = 1e-4
"""A parameter whose numbers are below this, as a layer's scale at its start, may move nothing: it becomes about 1."""
FACTOR = (1.6, 2.8)
"""What part of a buffer is multiplied by, which leaves signs and zeros as they are."""
SPARSE = 0.02
"""Share of a buffer's numbers that are 0, from which on where they are may be worth remembering."""
GROUP = 32
"""Numbers of a line of which so many are 0 in each, as two of four."""
TRIES = 32
MOST_OTHER_BYTES = 4 << 30
"""Of what is kept of a module from another seed."""


@dataclass(frozen=True, slots=True)
class Weight:
    """One parameter or buffer that a seed decides, or that is one number everywhere."""

    parameter: bool
    regularity: Regularity | None = None
    """What values of a buffer have in common; of a parameter the order that its numbers are in, as knots are."""
    freedom: Freedom | None = None
    """Of integers: how they may be rearranged."""
    sparse: bool = False
    """Of a buffer: whether many of its numbers are 0, at other places from another seed."""
    mark: bool = False
    """Of a buffer: whether it is of a few values in all, as a mask of 0 and 1."""
    level: bool = False
    """Of a buffer: whether all of it is one number, whatever the seed, as a running variance."""
    definite: bool = False
    """Whether it is symmetric, and all of its eigenvalues are above 0."""
    binary: bool = False
    """Of a buffer: whether all of its numbers are powers of two, as scales of blocks are."""
    together: bool = False
    """Of integers: whether they may only change with all others, to those of another seed."""
    other: torch.Tensor | None = field(default=None, compare=False)
    """What it is from another seed, on the host, where the module was built again."""

    def changed(self, value: torch.Tensor, rng: random.Random, *, one: bool) -> torch.Tensor:
        """Other values, in one stretch or at `one` place; signs stay, since what is positive may have to be so."""
        if self.together:
            return value
        if self.freedom is not None:
            codes = _arithmetic(value)
            codes = swapped(codes, self.freedom, rng) if one else self.freedom.shuffled(codes, rng)
            return codes.view(value.dtype)
        if value.dtype in BLANK:
            return _recoded(value, rng, one=one)
        if is_short(value):
            return self._short(value, rng, one=one)
        if self.regularity is not None and self.regularity.orthogonal:
            return _turned(value, rng, one=one)
        if self.mark:
            return self.kept(_exchanging(value, rng, 1 if one else max(1, value.numel() // STRETCH)))
        if self.definite:
            return stretched(value, rng, some=1 if one else max(1, value.shape[-1] // STRETCH))
        if self.sparse and not one:
            return self.kept(value.roll(value.shape[-1] // 2, -1))  # so that blocks of it stay blocks
        changed = value.clone(memory_format=torch.contiguous_format)
        flat = (torch.view_as_real(changed) if value.is_complex() else changed).view(-1)
        length = 1 if one else max(1, flat.numel() // STRETCH)
        for _ in range(TRIES):
            start = rng.randrange(flat.numel() - length + 1)
            part = flat[start : start + length]
            if self.parameter or bool(part.any()):
                break
        if self.parameter:
            usual = float(flat.double().abs().mean())
            size = (usual if usual >= TINY else 1.0) * (SPIKE if one else 1)
            part.copy_(part * 0.5 + size * torch.where(part < 0, -1.0, 1.0).to(part.dtype))
        else:
            part *= SPIKE if one else 2.0 if self.binary else rng.uniform(*FACTOR)
        return self.kept(changed)

    def exchanged(self, value: torch.Tensor, rng: random.Random, *, anew: Change | None) -> torch.Tensor:
        """All other values: those of another seed, else the same ones at other places. `anew`: such as were never seen,
        which whoever keeps several states of a weight has not kept; not every reference bears them."""
        if anew is None or self.together:
            return self._elsewhere(value, rng) if self.other is None else self.other.to(value.device)
        start = value if self.other is None or is_constant(self.other) else self.other.to(value.device)
        if self.freedom is not None and self.freedom.loose and self.other is not None:
            return self.changed(torch.where(coin(value, rng), start, value), rng, one=False)
        if self.freedom is not None or is_short(start):
            return self.changed(start, rng, one=False)
        if start.dtype in BLANK:
            return _all_recoded(start, rng)
        orthogonal = self.regularity is not None and self.regularity.orthogonal
        matrices = as_matrices(start, rng, orthogonal=orthogonal, definite=self.definite, filled=self.parameter)
        if matrices is not None:
            return matrices
        if self.mark:
            return self.kept(_exchanging(start, rng, start.numel()))
        if self.sparse:
            start = _moved(start, rng)
        if self.binary:
            return self.kept(torch.where(coin(start, rng), start, 0.5 * start))
        return self.kept(anew(self._elsewhere(start, rng), rng))

    def _elsewhere(self, value: torch.Tensor, rng: random.Random) -> torch.Tensor:
        """The numbers of a parameter at other places, where they have none of their own."""
        plain = self.parameter and self.regularity is None and self.freedom is None and not is_short(value)
        if not plain or value.numel() < 2:
            return value
        return value.flatten().roll(rng.randrange(1, value.numel())).view(value.shape)

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The value with what all of its values have in common."""
        return value if self.regularity is None else self.regularity.kept(value)

    def _short(self, value: torch.Tensor, rng: random.Random, *, one: bool) -> torch.Tensor:
        """Of eight bits: larger where their type has larger ones, else smaller by as much."""
        wide = value.float()
        grown = Weight(parameter=False, regularity=self.regularity).changed(wide, rng, one=one)
        most = torch.finfo(value.dtype).max
        return torch.where(grown.abs() > most, wide * (wide / grown), grown).to(value.dtype)


def followed(model: torch.nn.Module, again: torch.nn.Module | None, passing: Collection[str] = ()) -> dict[str, Weight]:
    """By name; `again` is the same module from another seed, without which no buffers are among them; `passing`: what
    each call changes.

    What a buffer holds whatever the seed, such as a mask or a table of sines, belongs to the problem as its shapes do,
    unless it is one number: a running mean, a scale.
    """
    state = state_of(model)
    # What is not trained is as much the problem's as a buffer is.
    parameters = {name for name, p in model.named_parameters() if p.requires_grad} if state else set()
    other: Mapping[str, torch.Tensor] = state_of(again) if again is not None else {}
    numbers = {name for name in parameters if is_number(_arithmetic(state[name]))}
    drawn = [
        name
        for name, value in other.items()
        if name not in numbers
        and name not in passing
        and value.numel()
        and (value.shape, value.dtype) == (state[name].shape, state[name].dtype)
        and not overlaps(distinct(value).shape, distinct(value).stride())
        and (is_constant(value) or _is_blank(value) or not same_bytes(state[name], value))
    ]
    draws = [[_arithmetic(distinct(known[name])) for name in drawn] for known in (state, other)]
    regular, free, marked = regularities(draws), freedoms(draws), marks(draws)
    names = [drawn[number] for number in free]
    hanging = bound(model, again, drawn, names, passing) if again is not None else Bound()
    found = {
        name: Weight(parameter=True, regularity=_ordered(state[name]), definite=is_definite(_arithmetic(state[name])))
        for name in numbers
    }
    for number, name in enumerate(drawn):
        if name in hanging.left:
            continue
        if name in hanging.together:
            found[name] = Weight(parameter=False, together=True)
        elif is_constant(other[name]) or _is_blank(other[name]):
            found[name] = Weight(parameter=False, level=is_constant(other[name]))
        elif is_number(draws[0][number]) or number in free:
            sparse = name not in parameters and _is_sparse(draws[0][number], draws[1][number])
            definite = all(is_number(draw[number]) and is_definite(draw[number]) for draw in draws)
            binary = name not in parameters and all(_is_binary(draw[number]) for draw in draws)
            found[name] = Weight(
                name in parameters,
                regular.get(number),
                free.get(number),
                sparse=sparse,
                binary=binary,
                definite=definite,
                mark=number in marked,
            )
    if sum(other[name].nbytes for name in found if name in other) > MOST_OTHER_BYTES:
        return {name: weight for name, weight in found.items() if not weight.together}
    others = {name: distinct(other[name]).cpu() for name in found if name in other}
    return {name: replace(weight, other=others.get(name)) for name, weight in found.items()}


def _moved(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Rolled along its last two axes by whole blocks of zeros, along the last one by groups too of which some are 0."""
    for axis in range(max(0, value.dim() - 2), value.dim()):
        n, step = value.shape[axis], _block(value == 0, axis)
        if axis == value.dim() - 1:
            step = math.lcm(step, min(GROUP, n))
        value = value.roll(step * rng.randrange(max(1, n // step)), axis)
    return value


def _exchanging(value: torch.Tensor, rng: random.Random, count: int) -> torch.Tensor:
    """So many places in a row have the numbers of others, or, where that is one, another place's number."""
    flat = value.clone(memory_format=torch.contiguous_format).view(-1)
    start = rng.randrange(flat.numel() - count + 1)
    if count == 1:
        others = (flat != flat[start]).nonzero().view(-1)
        if others.numel():
            place = int(others[rng.randrange(others.numel())])
            flat[[start, place]] = flat[[place, start]]
    else:
        order = torch.randperm(count, generator=generator_for(value, rng), device=value.device)
        flat[start : start + count] = flat[start : start + count][order]
    return flat.view(value.shape)


def _block(zeros: torch.Tensor, axis: int) -> int:
    """How many along an axis are 0 together, or not, everywhere: a power of two."""
    n, block = zeros.shape[axis], 1
    while n % (2 * block) == 0:
        parts = zeros.movedim(axis, -1).reshape(-1, 2 * block)
        if not bool((parts == parts[:, :1]).all()):
            break
        block *= 2
    return block


def _ordered(value: torch.Tensor) -> Regularity | None:
    orders = orders_of([value]) if is_number(value) else ()
    return Regularity(orders=orders) if orders else None


def _is_sparse(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not is_number(one) or one.dim() == 0 or one.shape[-1] < 2:
        return False
    zeros = one == 0
    return bool(zeros.double().mean() >= SPARSE) and not torch.equal(zeros, other == 0)


def _is_binary(value: torch.Tensor) -> bool:
    if not is_number(value) or value.is_complex():
        return False
    halves = torch.frexp(value.double()).mantissa.abs()
    return bool(((halves == 0.5) | (value == 0)).all())


def _turned(value: torch.Tensor, rng: random.Random, *, one: bool) -> torch.Tensor:
    """With other signs in half of its columns, or in `one`: what is orthogonal stays so."""
    width = value.shape[-1]
    columns = rng.sample(range(width), 1 if one else max(1, width // 2))
    turned = value.clone(memory_format=torch.contiguous_format)
    turned[..., columns] = -turned[..., columns]
    return turned


def _is_blank(value: torch.Tensor) -> bool:
    return value.dtype in BLANK and value.numel() > 1 and bool((value == value.flatten()[0]).all())


def _recoded(value: torch.Tensor, rng: random.Random, *, one: bool) -> torch.Tensor:
    """Other codes or flags, in one stretch or at `one` place."""
    changed = value.clone(memory_format=torch.contiguous_format)
    flat, length = changed.view(-1), 1 if one else max(1, value.numel() // STRETCH)
    start = rng.randrange(flat.numel() - length + 1)
    part = flat[start : start + length]
    if value.dtype == torch.bool:
        part.logical_not_()
    else:
        step = rng.randint(1, MOST_CODE)
        part.add_(torch.where(part > 0, -step, step).to(value.dtype))
    return changed


def _all_recoded(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Half of all flags are others, or each code is one by chance."""
    if value.dtype == torch.bool:
        return value ^ coin(value, rng)
    steps = torch.randint(0, MOST_CODE + 1, value.shape, generator=generator_for(value, rng), device=value.device)
    return value + torch.where(value > 0, -steps, steps).to(value.dtype)


def _arithmetic(value: torch.Tensor) -> torch.Tensor:
    """Floats of 8 bits in a type that can be reckoned with, and what no type can be made of as its bytes."""
    if is_short(value):
        return value.float()
    return value.view(torch.uint8) if value.is_floating_point() and value.itemsize == 1 else value


def swapped(value: torch.Tensor, freedom: Freedom, rng: random.Random) -> torch.Tensor:
    """A copy where two integers of one line have changed places, or two lines where those must stay as they are."""
    axis = (freedom.lines or freedom.axes)[0]
    lines = value.clone().movedim(axis, -1)
    for _ in range(TRIES):
        one, other = (rng.randrange(lines.shape[-1]) for _ in range(2))
        line = tuple(rng.randrange(n) for n in lines.shape[:-1]) if freedom.lines else (...,)
        if not torch.equal(lines[(*line, one)], lines[(*line, other)]):
            kept = lines[(*line, one)].clone()
            lines[(*line, one)] = lines[(*line, other)]
            lines[(*line, other)] = kept
            break
    return lines.movedim(-1, axis)
