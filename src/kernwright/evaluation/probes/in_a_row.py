"""Where a stretch of a line lies that is to be all one thing: missing, or a number that is asked for."""

import random

import torch

from kernwright.evaluation.numbers import chances

SHARE, WHOLE, COMMON = 0.25, 0.2, 0.4
"""Of the lines so many are changed; of these so many whole, and so many in one stretch that is the same for all, or
everywhere but there: two of those have hardly a place in common."""
SHORTEST, LONGEST = 8, 2
"""The parts of a line that a stretch has at the least and at the most."""


def in_a_row(value: torch.Tensor, axis: int, rng: random.Random) -> torch.Tensor:
    """Places of such stretches along an axis, of the value's shape. Of several lines one at the least is whole, and one
    is left as it is."""
    n = value.shape[axis]
    lines = value.movedim(axis, -1).select(-1, 0).unsqueeze(-1)  # (..., 1)
    own = _stretch(lines, n, rng)
    common = _stretch(lines.flatten()[:1], n, rng)
    common = torch.where(chances(lines, rng) < 0.5, common, ~common)
    kind, chance = chances(lines, rng), chances(lines, rng)
    stretch = torch.where(kind < COMMON, common, own) | (kind > 1 - WHOLE)
    stretch |= ~stretch.any(-1, keepdim=True)
    first = chance == chance.min()
    chosen = (chance < SHARE) | first
    if chance.numel() > 1:
        stretch, chosen = stretch | first, chosen & (chance < chance.max())
    return (stretch & chosen).movedim(-1, axis)


def _stretch(lines: torch.Tensor, n: int, rng: random.Random) -> torch.Tensor:
    """Of each line (..., 1) one: half of them at its beginning or its end."""
    least, most = max(1, n // SHORTEST), max(1, n // LONGEST)
    length = least + (chances(lines, rng) * (most - least + 1)).long()
    at = (chances(lines, rng) * 2 - 0.5).clamp(0.0, 1.0)
    start = (at * (n - length)).round().long()
    places = torch.arange(n, device=lines.device)
    return (places >= start) & (places < start + length)
