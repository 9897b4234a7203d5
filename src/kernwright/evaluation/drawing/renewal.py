"""New values from known draws, where a generator is too slow to be asked at every timed call.

Nothing that a kernel was given before comes again, nor a row of it, nor all of a tensor's numbers in another order:
what a kernel remembers of earlier inputs must not help it.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kernwright.evaluation.numbers import generator_for, real

from .freedom import Freedom, picked

DTYPES = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
STRETCH, STRETCH_ON_DEVICE = 1 << 16, 1 << 25
"""Numbers that are made at a time: what is made on the way stays in a core's cache, or leaves room on a device."""
LEAST = 0.8
"""A number that stands for one of two of which the other is zero keeps so much of its size."""


def is_renewable(draws: Sequence[Sequence[Any]], free: Mapping[int, Freedom]) -> bool:
    """Whether every input that differs from draw to draw can be made anew from them."""
    if len(draws) < 2:
        return False
    return all(_is_renewable(values, free.get(number)) for number, values in enumerate(zip(*draws, strict=True)))


def renewed(draws: Sequence[Sequence[Any]], free: Mapping[int, Freedom], rng: random.Random) -> list[Any]:
    """New values within the range that the draws have at each place; of integers also in another order."""
    made = []
    for number, values in enumerate(zip(*draws, strict=True)):
        value = values[0]
        if isinstance(value, torch.Tensor) and not _always_the_same(values):
            freedom = free.get(number)
            if freedom is None:
                first, second = rng.sample(values, 2)
                value = _between(first, second, rng)
            else:
                value = freedom.shuffled(picked(values, rng) if freedom.loose else rng.choice(values), rng)
        made.append(value)
    return made


def _is_renewable(values: Sequence[Any], freedom: Freedom | None) -> bool:
    if _always_the_same(values):
        return True
    if not isinstance(values[0], torch.Tensor):
        return False
    if freedom is not None:
        return freedom.loose or freedom.complete
    parts = [real(value) for value in values]
    # Whole numbers are often more than numbers: flags, counts, places.
    return all(v.dtype in DTYPES and bool(torch.isfinite(v).all()) and bool((v != v.round()).any()) for v in parts)


def _always_the_same(values: Sequence[Any]) -> bool:
    first = values[0]
    if isinstance(first, torch.Tensor):
        return all(value is first or torch.equal(value, first) for value in values[1:])
    return all(value == first for value in values[1:])


def _between(first: torch.Tensor, second: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """At each place a number between those of two draws; where one of them is zero, zero as often as not."""
    one, other = real(first), real(second)
    generator = generator_for(one, rng)
    between = torch.empty_like(one, memory_format=torch.contiguous_format)
    length = STRETCH if one.device.type == "cpu" else STRETCH_ON_DEVICE
    stretches = (torch.split(tensor.flatten(), length) for tensor in (one, other))
    for a, b, into in zip(*stretches, torch.split(between.view(-1), length), strict=True):
        share = torch.rand(a.shape, generator=generator, dtype=a.dtype, device=a.device)
        for here, there, turned in ((a, b, False), (b, a, True)):
            if int(here.count_nonzero()) < here.numel():
                rounded = torch.where(share < 0.5, 0, LEAST + 2 * (1 - LEAST) * (share - 0.5))
                share = torch.where((here == 0) & (there != 0), 1 - rounded if turned else rounded, share)
        torch.sub(b, a, out=into).mul_(share).add_(a)
    return torch.view_as_complex(between) if first.is_complex() else between
