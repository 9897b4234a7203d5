"""What the numbers of an input have to do with each other in every draw: lines that sum to 1, or have one norm, parts
that are copies or bounds of others. A kernel may rely on it, as on any other regularity of an input.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any, Literal

import torch

from kernwright.evaluation.numbers import is_number, told, widened

UNLIKELY = math.log(1e-6)
"""Logarithm of the chance below which a relation is there on purpose."""
LAST, SPREAD = 8.0, 0.7
"""Epsilons that a norm is off by rounding; and how far norms of lines are apart by chance, beside the root of their
length."""
FEWEST = 20
"""So many pairs would not be in this order if lines met others: chance puts none of as many in order."""
SOME, ROUGHLY = 8, 0.05
"""Lines that are looked at first, and how far off they may be for all to be looked at."""
FIRST = 4096
"""Numbers of two inputs that are looked at first."""
ORTHOGONAL = 1e-4
"""How far from the identity a product of an orthogonal matrix with its transpose may be in float32."""
Kind = Literal["sum", "norm", "halves", "pairs", "bounds", "phases"]
WORDS: dict[Kind, str] = {
    "sum": "lines along {} sum to 1",
    "norm": "lines along {} have one norm",
    "halves": "the halves of {} are equal",
    "pairs": "neighbours along {} are equal by twos",
    "bounds": "the second half of {} is nowhere below the first",
    "phases": "its numbers have one absolute value",
}


@dataclass(frozen=True, slots=True)
class Lines:
    """Along one axis; of `phases` each number is a line of its own."""

    kind: Kind
    size: float = 1.0
    """Of norms."""
    axis: int = -1

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The value with this relation: lines are scaled, copies are those of the first, bounds are put in order."""
        return self._along_the_last(value.movedim(self.axis, -1)).movedim(-1, self.axis)

    def _along_the_last(self, value: torch.Tensor) -> torch.Tensor:
        half = value.shape[-1] // 2
        match self.kind:
            case "sum":
                return _scaled(value.abs(), value.abs().sum(-1, keepdim=True, dtype=torch.float64), 1 / value.shape[-1])
            case "norm":
                norm = torch.linalg.vector_norm(value, dim=-1, keepdim=True, dtype=torch.float64) / self.size
                return _scaled(value, norm, self.size / math.sqrt(value.shape[-1]))
            case "phases":
                return _scaled(value, value.abs().double() / self.size, self.size)
            case "halves":
                return torch.cat([value[..., :half]] * 2, -1)
            case "pairs":
                return value[..., ::2].repeat_interleave(2, -1)
            case "bounds":
                first, second = value[..., :half], value[..., half:]
                return torch.cat([torch.minimum(first, second), torch.maximum(first, second)], -1)

    def described(self) -> str:
        """In words."""
        return WORDS[self.kind].format("its last axis" if self.axis == -1 else f"its axis {self.axis}")


def _scaled(value: torch.Tensor, size: torch.Tensor, alike: float) -> torch.Tensor:
    """Lines over their size; those that have none are one number."""
    scaled = torch.where(size > 0, widened(value) / size, alike).to(value.dtype)
    return torch.where(torch.isfinite(size), scaled, value)


def lines_of(values: Sequence[torch.Tensor]) -> Lines | None:
    """Of one input in several draws."""
    first = values[0]
    if first.dim() == 0 or not first.numel():
        return None
    if first.is_complex():
        return _phases(values)
    copies, bounds, sizes = _likely(first) if first.shape[-1] > 1 else (False, False, False)
    if kind := (_copies(values) if copies else None) or (_bounds(values) if bounds else None):
        return Lines(kind)
    found = _of_one_size(values) if sizes else None
    for axis in range(first.dim() - 1):
        moved = first.movedim(axis, -1)
        if found is None and moved.shape[-1] > 1 and _likely(moved)[2]:
            other = _of_one_size([value.movedim(axis, -1) for value in values])
            found = other and replace(other, axis=axis)
    return found


def _phases(values: Sequence[torch.Tensor]) -> Lines | None:
    """Of complex numbers that lie on one circle, and not at one place."""
    sizes = torch.stack([torch.stack(v.abs().aminmax()) for v in values])
    least, most, differ = told([sizes.amin(), sizes.amax(), (values[0] != values[0].flatten()[0]).any()])
    if not differ or values[0].numel() < FEWEST or not 0 < most < math.inf:
        return None
    alike = most - least <= 2 * LAST * torch.finfo(values[0].dtype).eps * most
    return Lines("phases", (least + most) / 2) if alike else None


def _likely(value: torch.Tensor) -> tuple[bool, bool, bool]:
    """Whether a few lines look like copies, like bounds, and like lines of one size: nearly no input does."""
    some = value
    while some.dim() > 2:
        some = some[0]
    some = some.reshape(-1, value.shape[-1])[:SOME].double()
    half, even = some.shape[-1] // 2, some.shape[-1] % 2 == 0
    first, second = some[:, :half], some[:, half : 2 * half]
    norms, sums = torch.linalg.vector_norm(some, dim=-1), some.sum(-1)
    halves, pairs, above, ones, alike = told(
        (
            (first == second).all(),
            (some[:, : 2 * half : 2] == some[:, 1::2]).all(),
            (first <= second).all(),
            ((sums - 1).abs() <= ROUGHLY).all(),
            norms.amax() - norms.amin() <= ROUGHLY * norms.amax(),
        )
    )
    return bool(even and (halves or pairs)), bool(even and above), bool(ones or alike)


def _copies(values: Sequence[torch.Tensor]) -> Kind | None:
    half, first = values[0].shape[-1] // 2, values[0]
    ways: dict[Kind, list[tuple[torch.Tensor, torch.Tensor]]] = {
        "halves": [(v[..., :half], v[..., half:]) for v in values],
        "pairs": [(v[..., ::2], v[..., 1::2]) for v in values],
    }
    same = told(torch.stack([(a == b).all() for a, b in pairs]).all() for pairs in ways.values())
    if not any(same) or not told([(first[..., :half] != first.flatten()[0]).any()])[0]:
        return None
    return next(kind for kind, found in zip(ways, same, strict=True) if found)


def _bounds(values: Sequence[torch.Tensor]) -> Kind | None:
    half = values[0].shape[-1] // 2
    return "bounds" if _is_bound([v[..., :half] for v in values], [v[..., half:] for v in values]) else None


def _is_bound(lower: Sequence[torch.Tensor], upper: Sequence[torch.Tensor]) -> bool:
    """Whether no number is below its counterpart, though many are below those of other lines."""
    pairs = [*zip(lower, upper, strict=True)]
    never = torch.stack([(a <= b).all() for a, b in pairs]).all()
    elsewhere = torch.stack([(a > _of_other_lines(b)).sum() for a, b in pairs]).sum()
    holds, otherwise = told([never, elsewhere])
    return bool(holds) and otherwise >= FEWEST


def _of_other_lines(value: torch.Tensor) -> torch.Tensor:
    lines = value.reshape(-1, value.shape[-1]) if value.dim() > 1 else value.reshape(-1, 1)
    return lines.roll(1 + len(lines) // 2, 0).view(value.shape)


def _of_one_size(values: Sequence[torch.Tensor]) -> Lines | None:
    n, eps = values[0].shape[-1], torch.finfo(values[0].dtype).eps
    lines = [v.reshape(-1, n) for v in values]
    sums = torch.cat([v.sum(-1, dtype=torch.float64) for v in lines])
    norms = torch.cat([torch.linalg.vector_norm(v, dim=-1, dtype=torch.float64) for v in lines])
    least = torch.stack([v.amin() for v in lines]).amin()
    differ = torch.stack([(v != lines[0][0]).any() for v in lines]).any()
    off, apart, size, below, differs = told(
        [(sums - 1).abs().amax(), norms.amax() - norms.amin(), norms[0], least, differ]
    )
    rounded = LAST * (eps / math.sqrt(n) + torch.finfo(torch.float32).eps)
    chance = (len(norms) - 1) * math.log(min(1.0, rounded * math.sqrt(n) / SPREAD))
    if chance > UNLIKELY or not differs:
        return None
    if below >= 0 and off <= rounded * math.sqrt(n):
        return Lines("sum")
    return Lines("norm", size) if 0 < size < math.inf and apart <= 2 * rounded * size else None


def is_orthogonal(values: Sequence[torch.Tensor]) -> bool:
    """Whether matrices over the last two axes are, in every draw; to be asked of those whose lines have norm 1."""
    if values[0].dim() < 2 or values[0].shape[-1] != values[0].shape[-2]:
        return False
    identity = torch.eye(values[0].shape[-1], device=values[0].device)
    return all(told(((v.float() @ v.float().mT - identity).abs() <= ORTHOGONAL).all() for v in values))


def repeated_along(values: Sequence[torch.Tensor]) -> tuple[int, ...]:
    """Axes along which every number is the first one, in every draw of what is not one number all over."""
    axes = [axis for axis, n in enumerate(values[0].shape) if n > 1]
    likely = told((values[0].select(axis, 0) == values[0].select(axis, 1)).all() for axis in axes)
    asked = [axis for axis, is_likely in zip(axes, likely, strict=True) if is_likely]
    if not asked or not told([(values[0] != values[0].flatten()[0]).any()])[0]:
        return ()
    same = told(torch.stack([(v == v.narrow(axis, 0, 1)).all() for v in values]).all() for axis in asked)
    return tuple(axis for axis, is_same in zip(asked, same, strict=True) if is_same)


def twins_of(draws: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Pairs of inputs, by number, that are the same in every draw, and not one number all over; of several each one
    beside the first."""
    inputs = [*zip(*draws, strict=True)]
    some = [n for n, values in enumerate(inputs) if all(map(is_number, values)) and values[0].numel() > 1]
    pairs = [(a, b) for a, b in combinations(some, 2) if _alike(inputs[a][0], inputs[b][0])]
    first = {n: inputs[n][0].reshape(-1)[:FIRST] for n in some}
    likely = told((first[a] == first[b]).all() & (first[a] != first[a][0]).any() for a, b in pairs)
    found: dict[int, int] = {}
    for (a, b), is_likely in zip(pairs, likely, strict=True):
        if is_likely and a not in found and all(map(torch.equal, inputs[a], inputs[b])):
            found.setdefault(b, a)
    return [(a, b) for b, a in found.items()]


def bounds_between(draws: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Pairs of inputs, by number, of which the first is nowhere above the second."""
    inputs = [*zip(*draws, strict=True)]
    some = [n for n, values in enumerate(inputs) if all(map(is_number, values)) and not values[0].is_complex()]
    pairs = [(a, b) for a, b in permutations(some, 2) if _alike(inputs[a][0], inputs[b][0])]
    first = {n: inputs[n][0].reshape(-1)[:FIRST] for n in some}
    likely = told((first[a] <= first[b]).all() for a, b in pairs)
    asked = [pair for pair, is_likely in zip(pairs, likely, strict=True) if is_likely]
    return [(lower, upper) for lower, upper in asked if _is_bound(inputs[lower], inputs[upper])]


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype
