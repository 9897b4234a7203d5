"""Results that hang on which of several equal integers comes first, which is anybody's choice.

What was drawn is looked at, and the same of two numbers alone. A count, a rank or a sum stays as it is in every order
of the numbers, or comes in that order too. What does so as drawn, and no longer where most numbers are equal, is a
choice among these: what stands beside the largest, say. A position does neither, as little as what hangs on places for
another reason, so that small integers of this kind are taken for positions. All that only where the reference calls a
function that chooses.
"""

import random
from collections.abc import Sequence
from functools import partial

import torch

from kernwright.evaluation.numbers import chances
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .another_order import followed_by
from .choosing import chooses

CHOICE, MAYBE, NONE = "choice", "maybe", "none"
"""A result is a choice; may be one where it could name positions; is none."""


def with_positions(outputs: Sequence[torch.Tensor], case: Case, setting: Setting) -> list[torch.Tensor]:
    """The outputs, with the reference's own where equal numbers leave a choice."""
    choices = _choices(setting)
    return [
        own if choice == CHOICE or (choice == MAYBE and _could_be(own, case)) else got
        for got, own, choice in zip(outputs, case.native, choices, strict=True)
    ]


def is_a_choice(setting: Setting) -> bool:
    """Whether a result may be one."""
    return any(choice != NONE for choice in _choices(setting))


def _could_be(native: torch.Tensor, case: Case) -> bool:
    """Whether it is of integers that could be positions, or steps from one to another."""
    if native.is_floating_point() or native.is_complex() or native.dtype == torch.bool or not native.numel():
        return False
    most = max((v.numel() for v in case.values if isinstance(v, torch.Tensor)), default=0)
    least, largest = map(int, native.aminmax())
    return -most < least and largest < most and (least, largest) != (0, 0)  # 0 alone is the first of several maxima


def _choices(setting: Setting) -> list[str]:
    """Found out once for each workload."""

    def found() -> list[str]:
        return where_possible(setting.reference, partial(_found, setting)) or [MAYBE] * len(setting.bases[0].native)

    return setting.reference.known.once(setting.workload, "choices", found)


def _found(setting: Setting) -> list[str] | None:
    base = setting.bases[0]
    rng = random.Random(base.seed)
    numbers = [number for number, freedom in setting.free.items() if freedom.exchange]
    values: Values = list(base.values)
    for number in numbers:
        values[number] = _of_two(values[number], rng)
    # Slots may meet where numbers are equal; a reference that does not bear that says nothing of them.
    meet = where_possible(setting.reference, partial(chooses, setting, values))
    if not (meet or chooses(setting, base.values)):
        return [NONE] * len(base.native)
    if not numbers:
        return None
    tied = setting.case(values, "two integers", base.seed)
    each = [followed_by(setting, case, numbers, rng) for case in (base, tied)]
    return [(NONE if where_tied else CHOICE) if as_drawn else MAYBE for as_drawn, where_tied in zip(*each, strict=True)]


def _of_two(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    flat = value.flatten()
    first, second = (flat[rng.randrange(len(flat))] for _ in range(2))
    at = chances(value, rng) < 0.5
    return torch.where(at, first, second)
