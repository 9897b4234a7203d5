"""What all draws of an input have in common, such as a triangle of zeros; values that the judge makes up keep it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .numbers import is_number

CHANCE = 0.05
"""Share of the places, fixed or free, up to which zeros elsewhere are chance: 1 in 16 million of `torch.rand`."""


@dataclass(frozen=True, slots=True)
class Regularity:
    """Of one input. A kernel may rely on it: it belongs to the problem, as the shapes do."""

    zeros: torch.Tensor | None = None
    """Places that are 0 in every draw, as a mask, where other places are not."""
    symmetric: bool = False
    """Over the last two axes."""
    hermitian: bool = False
    """The same, of complex numbers, and conjugate."""

    def kept(self, value: torch.Tensor) -> torch.Tensor:
        """The value with what lies above its diagonal mirrored, and zeros where they belong."""
        if self.symmetric:
            value = value.tril() + value.tril(-1).mT
        if self.hermitian:
            below, diagonal = value.tril(-1), value.diagonal(dim1=-2, dim2=-1)
            value = below + below.mH + torch.diag_embed(diagonal.real).to(value.dtype)
        return value if self.zeros is None else value.masked_fill(self.zeros, 0)

    def allows(self, place: tuple[int, ...]) -> bool:
        """Whether another number at that place would stay there."""
        mirrored = (self.symmetric or self.hermitian) and place[-2] < place[-1]
        return not mirrored and (self.zeros is None or not bool(self.zeros[place]))

    def described(self) -> str:
        """In words."""
        what = [] if self.zeros is None else [f"{int(self.zeros.sum())} of its elements are 0 in every draw"]
        what += ["it is symmetric in every draw"] if self.symmetric else []
        return " and ".join([*what, *(["it is Hermitian in every draw"] if self.hermitian else [])])


def regularities(draws: Sequence[Sequence[Any]]) -> dict[int, Regularity]:
    """Those of the floating inputs that have any, by number; `draws`: at least two, or nothing is regular."""
    if len(draws) < 2:
        return {}
    found = {}
    for number, values in enumerate(zip(*draws, strict=True)):
        if not all(map(is_number, values)):
            continue
        zeros, symmetric = _zeros(values), all(_is_symmetric(value) for value in values)
        hermitian = not symmetric and values[0].is_complex() and all(_is_symmetric(v, conjugate=True) for v in values)
        if symmetric or hermitian or zeros is not None:
            found[number] = Regularity(zeros, symmetric, hermitian)
    return found


def kept(values: Sequence[Any], known: dict[int, Regularity]) -> list[Any]:
    """All inputs, the regular ones as they are in every draw."""
    return [known[number].kept(value) if number in known else value for number, value in enumerate(values)]


def _zeros(values: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """A generator gives zeros by chance too: where many are elsewhere in another draw, none means anything."""
    each = [value == 0 for value in values]
    common = torch.stack(each).all(dim=0)
    fixed, most = int(common.sum()), max(int(zeros.sum()) for zeros in each)
    free = common.numel() - fixed
    return None if fixed == 0 or free == 0 or most - fixed > CHANCE * min(fixed, free) else common


def _is_symmetric(value: torch.Tensor, *, conjugate: bool = False) -> bool:
    square = value.dim() >= 2 and value.shape[-1] == value.shape[-2] > 1
    # What is one number everywhere is symmetric by chance.
    return (
        square and bool((value != value.flatten()[0]).any()) and torch.equal(value, value.mH if conjugate else value.mT)
    )
