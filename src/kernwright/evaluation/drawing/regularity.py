"""What all draws of an input have in common, such as a triangle of zeros; values that the judge makes up keep it."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernwright.evaluation.numbers import is_number, told

from .extent import Extent, extent_of
from .relations import Lines, bounds_between, is_orthogonal, lines_of, repeated_along, twins_of

CHANCE = 0.05
"""Share of the places, fixed or free, up to which zeros elsewhere are chance: 1 in 16 million of `torch.rand`."""
UNLIKELY = 1e-6
"""Chance below which numbers in order are in order on purpose."""
MARKS, KINDS, SOME = 16, 4, 4096
"""So many numbers of so few kinds are no chance; the first of each draw tell which kinds there are."""
LAST = 4
"""Units of the last place of the largest number, up to which two are equal but for rounding."""
LARGE = 2048
"""Rows of a matrix of which a factor takes long."""
EVIDENCE = 48
"""Bits after the point that are 0 in all numbers together: so many no chance leaves. Beyond 1 / epsilon a type has
none."""


@dataclass(frozen=True, slots=True)
class Order:
    """Along one axis."""

    axis: int
    falls: bool
    strict: bool
    """Whether no two neighbours are equal."""

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The numbers of each line in this order."""
        value = value.sort(dim=self.axis, descending=self.falls).values
        near = value.narrow(self.axis, 1, value.shape[self.axis] - 1) == value.narrow(
            self.axis, 0, value.shape[self.axis] - 1
        )
        if not self.strict or not bool(near.any()):
            return value
        # Each next one is farther from 0 by the last digits of the largest, so that signs stay.
        last = 2 * torch.finfo(value.dtype).eps * max(float(value[torch.isfinite(value)].abs().amax()), 1e-30)
        steps = torch.arange(value.shape[self.axis], device=value.device, dtype=torch.float64) * last
        steps = -steps if self.falls else steps
        steps = steps - steps.amax() if float(value.amax()) <= 0 else steps - steps.amin()
        steps = steps.view(-1, *[1] * (value.dim() - 1 - self.axis))
        return (value.double() + steps).to(value.dtype)


@dataclass(frozen=True, slots=True)
class Regularity:
    """Of one input. A kernel may rely on it: it belongs to the problem, as the shapes do."""

    zeros: torch.Tensor | None = None
    """Places that are 0 in every draw, as a mask, where other places are not."""
    symmetric: bool = False
    """Over the last two axes."""
    hermitian: bool = False
    """The same, of complex numbers, and conjugate."""
    extent: Extent | None = None
    """Where all numbers keep to one side of 0, away from it."""
    orders: tuple[Order, ...] = ()
    lines: Lines | None = None
    """How numbers of a line hang together."""
    orthogonal: bool = False
    """Over the last two axes."""
    above: int | None = None
    """The number of an input that it is nowhere below."""
    below: int | None = None
    """The same, nowhere above."""
    repeated: tuple[int, ...] = ()
    """Axes along which all its numbers are the first one, as those of an expanded tensor."""
    twin: int | None = None
    """The number of an input that is the same."""

    def kept(self, value: torch.Tensor, *, apart: bool = False) -> torch.Tensor:
        """The value within its extent, in its order, mirrored at its diagonal, its lines as they are, with zeros where
        they belong; `apart`: what is repeated may differ in last digits."""
        if self.extent is not None:
            value = self.extent.kept(value)
        for order in self.orders:
            value = order.kept(value)
        if self.symmetric:
            value = value.tril() + value.tril(-1).mT
        if self.hermitian:
            below, diagonal = value.tril(-1), value.diagonal(dim1=-2, dim2=-1)
            value = below + below.mH + torch.diag_embed(diagonal.real).to(value.dtype)
        value = value if self.zeros is None else value.masked_fill(self.zeros, 0)
        value = value if self.lines is None else self.lines.kept(value)
        if apart or not self.repeated:
            return value
        for axis in self.repeated:
            value = value.narrow(axis, 0, 1).expand(value.shape)
        return value.clone(memory_format=torch.contiguous_format)

    def allows(self, place: tuple[int, ...]) -> bool:
        """Whether another number at that place would stay there."""
        mirrored = (self.symmetric or self.hermitian) and place[-2] < place[-1]
        return not mirrored and (self.zeros is None or not bool(self.zeros[place]))

    @property
    def places(self) -> bool:
        """Whether it says where numbers belong, so that they may not change places."""
        return self.zeros is not None or self.symmetric or self.hermitian or bool(self.orders)

    @property
    def by_element(self) -> bool:
        """Whether any element may be another draw's."""
        alone = self.above is None and self.below is None and self.twin is None
        return alone and not (self.held or self.orders or self.lines or self.repeated)

    @property
    def held(self) -> bool:
        """Whether it is a matrix that stays as it was drawn: mostly it is more than what is known of it."""
        return self.symmetric or self.hermitian or self.orthogonal

    def described(self) -> str:
        """In words."""
        what = [] if self.zeros is None else [f"{int(self.zeros.sum())} of its elements are 0 in every draw"]
        what += [] if self.extent is None else [self.extent.described()]
        what += [f"its numbers {'fall' if order.falls else 'rise'} along axis {order.axis}" for order in self.orders]
        what += [] if self.lines is None else [self.lines.described()]
        what += ["it is orthogonal in every draw"] if self.orthogonal else []
        what += [f"it is one slice over and over along axis {axis}" for axis in self.repeated]
        what += [] if self.twin is None else [f"it is input {self.twin}"]
        what += [] if self.above is None else [f"it is nowhere below input {self.above}"]
        what += [] if self.below is None else [f"it is nowhere above input {self.below}"]
        what += ["it is symmetric in every draw"] if self.symmetric else []
        return " and ".join([*what, *(["it is Hermitian in every draw"] if self.hermitian else [])])


def regularities(draws: Sequence[Sequence[Any]], marked: Collection[int] = ()) -> dict[int, Regularity]:
    """Those of the floating inputs that have any, by number; `draws`: at least two, or nothing is regular. Those that
    are `marked` stay as they were drawn, so that they cannot be put in order with others."""
    if len(draws) < 2:
        return {}
    found = {}
    for number, values in enumerate(zip(*draws, strict=True)):
        if not all(map(is_number, values)):
            continue
        zeros, symmetric = _zeros(values), all(_is_symmetric(value) for value in values)
        hermitian = not symmetric and values[0].is_complex() and all(_is_symmetric(v, conjugate=True) for v in values)
        orders = () if symmetric or hermitian else orders_of(values)
        lines = None if symmetric or hermitian or orders else lines_of(values)
        orthogonal = lines is not None and lines.kind == "norm" and is_orthogonal(values)
        lines = None if orthogonal else lines
        repeated = repeated_along(values)
        found[number] = Regularity(
            zeros, symmetric, hermitian, extent_of(values), orders, lines, orthogonal, repeated=repeated
        )
    for one, other in twins_of(draws):
        if not {one, other} & {*marked}:
            found[other] = replace(found[other], twin=one)
            found[one] = replace(found[one], twin=other if found[one].twin is None else found[one].twin)
    for lower, upper in bounds_between(draws):
        if not {lower, upper} & {*marked} and found[lower].by_element and found[upper].by_element:
            found[lower], found[upper] = replace(found[lower], below=upper), replace(found[upper], above=lower)
    return {number: regularity for number, regularity in found.items() if regularity != Regularity()}


def kept(values: Sequence[Any], known: dict[int, Regularity], *, apart: bool = False) -> list[Any]:
    """All inputs, the regular ones as they are in every draw; `apart`: what is the same may differ in last digits, as
    it does in the arithmetic of one kernel or another."""
    made = [known[number].kept(value, apart=apart) if number in known else value for number, value in enumerate(values)]
    for number, regularity in known.items():
        if (lower := regularity.above) is not None:
            ordered = torch.minimum(made[lower], made[number]), torch.maximum(made[lower], made[number])
            made[lower], made[number] = ordered
    for number, regularity in sorted(known.items()):
        if not apart and (twin := regularity.twin) is not None and twin < number:
            made[number] = made[twin]
    return made


def marks(draws: Sequence[Sequence[Any]]) -> frozenset[int]:
    """Floating inputs that are marks more than numbers, such as flags and labels: whole, or of a few values in all.

    Of one such number no other can be made: these stay as they were drawn.
    """
    each = enumerate(zip(*draws, strict=True)) if len(draws) > 1 else ()
    return frozenset(number for number, values in each if all(map(is_number, values)) and _are_marks(values))


def _are_marks(values: Sequence[torch.Tensor]) -> bool:
    if values[0].is_complex() or sum(value.numel() for value in values) < MARKS:
        return False
    first = values[0].flatten()[0]
    asked = [(v == first).all() for v in values] + [(v == v.round()).all() for v in values]
    *answers, largest = told([*asked, torch.stack([v.abs().amax() for v in values]).amax()])
    alike, whole = answers[: len(values)], answers[len(values) :]
    if all(alike):
        return False
    if all(whole) and largest <= 2 / torch.finfo(values[0].dtype).eps and _are_whole_on_purpose(values):
        return True
    kinds = {*torch.cat([value.flatten()[:SOME] for value in values]).tolist()}
    some = torch.tensor(sorted(kinds)[: KINDS + 1], dtype=values[0].dtype, device=values[0].device)
    return len(kinds) <= KINDS and all(bool(torch.isin(value, some).all()) for value in values)


def _are_whole_on_purpose(values: Sequence[torch.Tensor]) -> bool:
    """By how many bits after the point their type has; of 0 it is as of 1."""
    some = torch.cat([value.flatten()[:SOME] for value in values]).double().abs().clamp(min=1)
    bits = -math.log2(torch.finfo(values[0].dtype).eps) - some.log2().floor()
    return float(bits.clamp(min=0).sum()) >= EVIDENCE


def _zeros(values: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """A generator gives zeros by chance too: where many are elsewhere in another draw, none means anything."""
    each = [value == 0 for value in values]
    common = torch.stack(each).all(dim=0)
    fixed, *counts = map(int, told(zeros.count_nonzero() for zeros in (common, *each)))
    most = max(counts)
    free = common.numel() - fixed
    return None if fixed == 0 or free == 0 or most - fixed > CHANCE * min(fixed, free) else common


def orders_of(values: Sequence[torch.Tensor]) -> tuple[Order, ...]:
    """Along which axes the numbers of all of these rise or fall, and not by chance."""
    if values[0].is_complex():
        return ()
    ways = [(axis, falls) for axis in range(values[0].dim()) for falls in (False, True)]
    likely = told(_is_in_order(values[0], axis, falls) for axis, falls in ways)
    found = (_order(values, axis, falls) for (axis, falls), is_likely in zip(ways, likely, strict=True) if is_likely)
    return tuple(order for order in found if order is not None)


def _is_in_order(value: torch.Tensor, axis: int, falls: bool) -> torch.Tensor:
    n = value.shape[axis]
    left, right = value.narrow(axis, 0, n - 1), value.narrow(axis, 1, n - 1)
    return ((left >= right) if falls else (left <= right)).all()


def _order(values: Sequence[torch.Tensor], axis: int, falls: bool) -> Order | None:
    """Where no chance brings so many numbers in order."""
    n, steps, ties = values[0].shape[axis], 0, 0
    for value in values if n > 1 else ():
        left, right = value.narrow(axis, 0, n - 1), value.narrow(axis, 1, n - 1)
        if not bool(_is_in_order(value, axis, falls)):
            return None
        equal = int((left == right).sum())
        steps, ties = steps + left.numel() - equal, ties + equal
    orders = math.lgamma(n + 1) * len(values) * (values[0].numel() // max(n, 1))
    evidence = steps * math.log(2) if ties else orders
    strict = ties == 0 and values[0].itemsize > 2
    return Order(axis, falls, strict) if evidence > -math.log(UNLIKELY) else None


def _is_symmetric(value: torch.Tensor, *, conjugate: bool = False) -> bool:
    """But for last digits, which a product with its own transpose may differ in."""
    if value.dim() < 2 or value.shape[-1] != value.shape[-2] or value.shape[-1] == 1:
        return False
    differs = (value != value.flatten()[0]).any()  # what is one number everywhere is symmetric by chance
    if not is_number(value):
        return bool(differs) and torch.equal(value, value.mT)
    other, sizes = value.mH if conjugate else value.mT, value.abs()
    last = LAST * torch.finfo(value.dtype).eps * sizes.where(sizes.isfinite(), 0).amax()

    def alike(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ((a == b) | ((a - b).abs() <= last)).all()

    # Mostly the first row says no.
    return all(told([differs, alike(value[..., 0, :], other[..., 0, :])])) and bool(alike(value, other))


def is_definite(value: torch.Tensor) -> bool:
    """Whether it is of matrices that are symmetric, and positive but for a last digit, as those of covariances are.

    Of large ones, whose factors take long, it is believed where their diagonals are positive.
    """
    if value.dim() < 2 or value.shape[-1] != value.shape[-2] or not value.numel():
        return False
    diagonal = value.diagonal(dim1=-2, dim2=-1)
    hermitian = value.is_complex()
    if not bool((diagonal.real > 0).all()) or not _is_symmetric(value, conjugate=hermitian):
        return False
    if value.shape[-1] > LARGE:
        return True
    wide = value.to(torch.complex128 if hermitian else torch.float64)
    last = float(diagonal.abs().amax()) * value.shape[-1] * torch.finfo(value.dtype).eps
    wide = wide + last * torch.eye(value.shape[-1], dtype=wide.dtype, device=wide.device)
    return not bool(torch.linalg.cholesky_ex(wide).info.any())
