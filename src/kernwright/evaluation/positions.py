"""Results of integers that may name positions: which of several equal numbers is named is anybody's choice.

Counts, ranks and tokens are no choice, and often just as small. These are the same whatever order the numbers come in,
or come in that order too; a position is neither.
"""

import random
from collections.abc import Sequence

import torch

from .another_order import followed_by
from .cases import Case, Values
from .probe import generator_for
from .setting import Setting
from .shortage import where_possible


def with_positions(
    outputs: Sequence[torch.Tensor], case: Case, setting: Setting, rng: random.Random
) -> list[torch.Tensor]:
    """The outputs, with the reference's own where they may be positions."""
    if not any(_may_be(native, case) for native in case.native):
        return list(outputs)
    counts = _counts(setting, rng)
    return [
        own if _may_be(own, case) and not known else got
        for got, own, known in zip(outputs, case.native, counts, strict=True)
    ]


def _may_be(native: torch.Tensor, case: Case) -> bool:
    if native.dtype != torch.int64 or not native.numel():
        return False
    most = max((v.numel() for v in case.values if isinstance(v, torch.Tensor)), default=0)
    least, largest = map(int, native.aminmax())
    return least >= 0 and 0 < largest < most  # 0 alone is the first of several maxima


def _counts(setting: Setting, rng: random.Random) -> list[bool]:
    """Which results are no positions; found out once for each workload."""
    known, name = setting.reference.counts, setting.workload.name
    if name not in known:
        found = where_possible(setting.reference, lambda: _found(setting, rng))
        known[name] = found or [False] * len(setting.bases[0].native)
    return known[name]


def _found(setting: Setting, rng: random.Random) -> list[bool] | None:
    """As drawn, and of two numbers alone: a rank is where no two are equal what a position is where all are."""
    base = setting.bases[0]
    numbers = [number for number, freedom in setting.free.items() if freedom.exchange and not freedom.distinct]
    if not numbers:
        return None
    values: Values = list(base.values)
    for number in numbers:
        values[number] = _of_two(values[number], rng)
    tied = setting.case(values, "two integers", base.seed)
    each = [followed_by(setting, case, numbers, rng) for case in (base, tied)]
    return [all(found) for found in zip(*each, strict=True)]


def _of_two(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    flat = value.flatten()
    first, second = (flat[rng.randrange(len(flat))] for _ in range(2))
    return torch.where(
        torch.rand(value.shape, generator=generator_for(value, rng), device=value.device) < 0.5, first, second
    )
