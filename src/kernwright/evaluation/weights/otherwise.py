"""Other values for all numbers of a weight or an input at once: what was made of old ones is of no use then."""

import random
from collections.abc import Callable

import torch

from kernwright.evaluation.numbers import chances, generator_for

SMALLER, LARGER = (0.5, 1.0), (1.0, 2.0)
"""By which each number is multiplied, by a factor of its own: what keeps to a bound on one side of these goes on to."""
GENTLY = (0.9, 1.0)
"""The same of whole matrices, whose condition it makes little worse: steps towards a solution stay about as many."""
Change = Callable[[torch.Tensor, random.Random], torch.Tensor]


def smaller(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Signs and zeros stay."""
    return _scaled(value, rng, *SMALLER)


def larger(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """The same of what bears nothing smaller, as the inverse of a hyperbolic cosine."""
    return _scaled(value, rng, *LARGER)


def mixed(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Smaller, and of other signs at random where numbers have both."""
    changed = smaller(value, rng)
    if value.is_complex() or not bool((value < 0).any() & (value > 0).any()):
        return changed
    return torch.where(coin(value, rng), changed, -changed)


CHANGES: tuple[Change, ...] = (mixed, smaller, larger)
"""From that which most follows from to that which most references bear."""


def as_matrices(
    value: torch.Tensor,
    rng: random.Random,
    *,
    orthogonal: bool,
    definite: bool,
    some: int | None = None,
    filled: bool = False,
) -> torch.Tensor | None:
    """Others of those that are more than their numbers; None where they are neither. `filled`: zeros do not stay."""
    if orthogonal:
        return reflected(value, rng)
    return stretched(value, rng, some, filled=filled) if definite else None


def reflected(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Orthogonal matrices that are others, over the last two axes: by Householder's reflections on both sides."""
    for _ in range(2):
        normal = torch.randn(value.shape[-2], 1, generator=generator_for(value, rng), device=value.device).to(
            value.dtype
        )
        normal /= normal.norm()
        value = (value - 2 * normal @ (normal.mT @ value)).mT
    return value.contiguous()


def stretched(
    value: torch.Tensor, rng: random.Random, some: int | None = None, *, filled: bool = False
) -> torch.Tensor:
    """Symmetric matrices with positive eigenvalues that are others: D S D, with a positive diagonal D; `some`: of which
    so many numbers in a row are not 1. Where all change, S is another first: else correlations would be what they were.
    `filled`: what was 0 there is something, as of an identity that was trained.
    """
    size = value.shape[-1]
    count = size if some is None else some
    start = rng.randrange(size - count + 1)
    value = _with_more_on_the_diagonal(value, rng, filled) if some is None else value
    bounds = GENTLY if some is None else SMALLER
    scales = torch.ones(value.shape[:-1], dtype=value.dtype, device=value.device)
    scales[..., start : start + count] = _scaled(scales[..., start : start + count], rng, *bounds)
    return value * scales[..., :, None] * scales[..., None, :]


def _with_more_on_the_diagonal(value: torch.Tensor, rng: random.Random, filled: bool) -> torch.Tensor:
    """A mean of it and of its diagonal, and, where nothing is 0 or zeros are to be `filled`, of a product of a line
    with itself; of the latter so small a one that no eigenvalue becomes twice as large."""
    share, diagonal = rng.uniform(*SMALLER), value.diagonal(dim1=-2, dim2=-1)
    other, whole = torch.diag_embed(diagonal), bool((value != 0).all())
    if not value.is_complex() and (whole or filled):
        line = chances(diagonal, rng) if bool((value > 0).all()) else 2 * chances(diagonal, rng) - 1
        line = line.to(value.dtype) * (diagonal if whole else diagonal / value.shape[-1]).sqrt()
        other = (other + line[..., :, None] * line[..., None, :]) / 2
    return share * value + (1 - share) * other


def coin(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """True for half of the numbers, at random."""
    return chances(value, rng) < 0.5


def _scaled(value: torch.Tensor, rng: random.Random, least: float, most: float) -> torch.Tensor:
    share = chances(value, rng)
    return value * (least + (most - least) * share).to(value.dtype)
