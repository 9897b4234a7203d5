"""The comparison for values far from what a generator draws: digits may be lost there, the answer may not."""

import math
from collections.abc import Sequence

import torch

from kernwright.evaluation.numbers import told
from kernwright.evaluation.problem.cases import Case

from .random_rounding import ALL_DIGITS, rounded_at_random

GROSS = 0.02
"""Error, as a share of the largest output, up to which an algorithm is merely less stable than PyTorch's."""
ILL = 1e-3
"""From here on PyTorch's own error, as such a share, says that the inputs are more than floats can bear; where two
epsilons of the type are more, from there."""
MOST_LOST = 0.1
"""Error, as such a share, that another rounding of PyTorch's may explain: who leaves everything out is off by 1."""
VANISHED = 1e-6
"""Share of what is usual up to which a result is next to nothing."""


def size(value: torch.Tensor) -> float:
    """Root mean square; of complex numbers, of their absolute values."""
    wide = torch.complex128 if value.is_complex() else torch.float64
    return float(torch.linalg.vector_norm(value, dtype=wide)) / math.sqrt(value.numel() or 1)


def vanishes(value: torch.Tensor, usual: torch.Tensor) -> bool:
    """Whether next to nothing is left, as of gradients of a softmax of numbers that are far apart."""
    return value.is_floating_point() and size(value) < VANISHED * size(usual)


def share(got: torch.Tensor, true: torch.Tensor) -> float:
    """The largest error over the largest number, where numbers are expected; infinite where there are none."""
    if not true.numel():
        return 0.0
    finite = torch.isfinite(true)
    off, most = told([_largest_error(got, true, finite), torch.where(finite, true, 0.0).abs().max()])
    return off / (most or 1.0)


def _largest_error(got: torch.Tensor, true: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    if not (true.is_floating_point() or true.is_complex()):  # truth values have no difference, and bytes wrap around
        true = true.double()
    return torch.where(finite, got.to(true.dtype) - true, 0.0).abs().nan_to_num(nan=torch.inf).max()


def largest_share(got: Sequence[torch.Tensor], true: Sequence[torch.Tensor]) -> float:
    """Of several outputs."""
    return max((share(one, other) for one, other in zip(got, true, strict=True)), default=0.0)


def is_bearable(native: Sequence[torch.Tensor], oracle: Sequence[torch.Tensor]) -> bool:
    """Whether PyTorch's own outputs are near enough to the exact ones for a candidate's to be asked for."""
    return all(share(own, true) <= _ill(own) for own, true in zip(native, oracle, strict=True))


def _ill(own: torch.Tensor) -> float:
    return max(ILL, 2 * torch.finfo(own.dtype).eps) if own.is_floating_point() or own.is_complex() else ILL


def loses_digits_alone(got: Sequence[torch.Tensor], case: Case, *, gradients: bool) -> bool:
    """Whether an answer is merely less stable than PyTorch's; of `gradients`, than PyTorch's under any rounding.

    Nobody is asked for a result that PyTorch does not know to a tenth of the largest then; a number it must be.
    """
    if merely_unstable(got, case.native, case.oracle):
        return True
    owns = rounded_at_random(case, ALL_DIGITS) if gradients else ()
    return any(_as_far_as_known(got, own, case.oracle) for own in owns)


def _as_far_as_known(got: Sequence[torch.Tensor], own: Sequence[torch.Tensor], oracle: Sequence[torch.Tensor]) -> bool:
    asked: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    for triple in zip(got, own, oracle, strict=True):
        one, other, true = triple
        if not one.is_floating_point() or share(other, true) <= MOST_LOST:
            asked.append(triple)
        elif not bool(one.isfinite().all() and other.isfinite().all()):
            return False
    return all(merely_unstable([one], [other], [true], MOST_LOST) for one, other, true in asked)


def merely_unstable(
    got: Sequence[torch.Tensor],
    native: Sequence[torch.Tensor],
    oracle: Sequence[torch.Tensor],
    most: float = math.inf,
) -> bool:
    """Whether outputs differ by no more than digits, of which more are lost where PyTorch loses many itself.

    `most`: no share beyond this is digits. Integers and truth values have none to lose.
    """
    for one, own, true in zip(got, native, oracle, strict=True):
        if not (own.is_floating_point() or own.is_complex()):
            if not torch.equal(one, own):
                return False
            continue
        if not true.numel():
            continue
        finite = torch.isfinite(true)
        # What is infinite in both has no digits to lose.
        differs = (torch.isinf(own) & torch.isinf(true) & (one != own)).any()
        errors = (_largest_error(each, true, finite) for each in (own, one))
        elsewhere, owns, ones, size = told([differs, *errors, torch.where(finite, true, 0.0).abs().max()])
        bound = min(GROSS * max(1.0, owns / (size or 1.0) / _ill(own)), most)
        if elsewhere or not ones / (size or 1.0) <= bound:
            return False
    return True
