"""The comparison for values far from what a generator draws: digits may be lost there, the answer may not."""

import math
from collections.abc import Sequence
from itertools import chain

import torch

from .cases import Case
from .random_rounding import rounded_at_random

GROSS = 0.02
"""Error, as a share of the largest output, up to which an algorithm is merely less stable than PyTorch's."""
ILL = 1e-3
"""From here on PyTorch's own error, as such a share, says that the inputs are more than floats can bear; where two
epsilons of the type are more, from there."""

VANISHED = 1e-6
"""Share of what is usual up to which a result is next to nothing."""


def size(value: torch.Tensor) -> float:
    """Root mean square."""
    return float(torch.linalg.vector_norm(value, dtype=torch.float64)) / math.sqrt(value.numel() or 1)


def vanishes(value: torch.Tensor, usual: torch.Tensor) -> bool:
    """Whether next to nothing is left, as of gradients of a softmax of numbers that are far apart."""
    return value.is_floating_point() and size(value) < VANISHED * size(usual)


def share(got: torch.Tensor, true: torch.Tensor) -> float:
    """The largest error over the largest number, where numbers are expected; infinite where there are none."""
    finite = torch.isfinite(true)
    if not bool(finite.any()):
        return 0.0
    error = (got.to(true.dtype) - true)[finite].abs().nan_to_num(nan=torch.inf)
    return float(error.max()) / (float(true[finite].abs().max()) or 1.0)


def largest_share(got: Sequence[torch.Tensor], true: Sequence[torch.Tensor]) -> float:
    """Of several outputs."""
    return max((share(one, other) for one, other in zip(got, true, strict=True)), default=0.0)


def is_bearable(native: Sequence[torch.Tensor], oracle: Sequence[torch.Tensor]) -> bool:
    """Whether PyTorch's own outputs are near enough to the exact ones for a candidate's to be asked for."""
    return all(share(own, true) <= _ill(own) for own, true in zip(native, oracle, strict=True))


def _ill(own: torch.Tensor) -> float:
    return max(ILL, 2 * torch.finfo(own.dtype).eps) if own.is_floating_point() or own.is_complex() else ILL


def loses_digits_alone(got: Sequence[torch.Tensor], case: Case, *, gradients: bool) -> bool:
    """Whether an answer is merely less stable than PyTorch's; of `gradients`, than PyTorch's under any rounding."""
    owns = chain([case.native], rounded_at_random(case) if gradients else ())
    return any(merely_unstable(got, own, case.oracle) for own in owns)


def merely_unstable(
    got: Sequence[torch.Tensor], native: Sequence[torch.Tensor], oracle: Sequence[torch.Tensor]
) -> bool:
    """Whether outputs differ by no more than digits, of which more are lost where PyTorch loses many itself.

    Integers and truth values have none to lose.
    """
    for one, own, true in zip(got, native, oracle, strict=True):
        if not (own.is_floating_point() or own.is_complex()):
            if not torch.equal(one, own):
                return False
        elif not share(one, true) <= GROSS * max(1.0, share(own, true) / _ill(own)):
            return False
    return True
