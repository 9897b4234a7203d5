"""Numbers of like size as parts of an output, wherever they lie."""

from collections.abc import Callable, Iterable

import torch

GROUPS = 8
"""Of about as many numbers each; those of one power of two are in one."""
_LEAST, _POWERS = -1100, 2200
"""Exponents of float64."""
Pieces = Callable[[torch.dtype], Iterable[tuple[int, list[torch.Tensor]]]]
"""The tensors that are looked at, a stretch at a time, in this type."""


def summed_by_size(true: torch.Tensor, pieces: Pieces, make: Callable[..., list[torch.Tensor]]) -> list[torch.Tensor]:
    """What is made of each piece, summed over the numbers of each group; the smallest first.

    `true` is the third of the tensors, and says how large a number is. Zeros and what is not finite are in no group.
    """
    counts = torch.zeros(_POWERS, dtype=torch.int64, device=true.device)
    for _, piece in pieces(torch.float64):
        counts += torch.bincount(_power(piece[2]), minlength=_POWERS)
    counts[0] = 0
    before = counts.cumsum(0) - counts
    groups = before * GROUPS // counts.sum().clamp(min=1)
    sums: list[torch.Tensor] = []
    for _, piece in pieces(torch.float64):
        power = _power(piece[2])
        group = torch.where(power > 0, groups[power], GROUPS)
        made = [torch.bincount(group, each.flatten(), GROUPS + 1)[:GROUPS] for each in make(*piece)]
        sums = [a.add_(b) for a, b in zip(sums, made, strict=True)] if sums else made
    return sums


def _power(numbers: torch.Tensor) -> torch.Tensor:
    """Of two, next above each; 0 for zeros and what is not finite."""
    flat = numbers.flatten()
    some = torch.isfinite(flat) & (flat != 0)
    return torch.where(some, torch.frexp(flat).exponent.long() - _LEAST, 0)
