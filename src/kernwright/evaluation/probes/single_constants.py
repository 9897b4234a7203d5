"""Inputs of one number, such as an exponent or a temperature, that every draw has alike.

A generator shows nothing of what they do, and single elements are changed in larger inputs alone.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.shortage import where_possible

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting

FACTOR = (0.3, 0.8)
"""By which they become smaller, all by the same, so that which is larger stays."""
WHOLE = (0.5, 2.0)
"""Where a reference does not bear that, as a power of a negative number of no whole number: what leaves many whole."""


def single_constants(draws: Sequence[Sequence[Any]]) -> list[int]:
    """Inputs of one floating or complex number, by their place, that is the same in all draws."""
    return [
        number
        for number, values in enumerate(zip(*draws, strict=True))
        if is_number(values[0]) and values[0].numel() == 1
        if len(values) > 1 and all(torch.equal(values[0], other) for other in values[1:])
    ]


def with_others(setting: "Setting", base: Case, numbers: Sequence[int], rng: random.Random) -> Case | None:
    """The base with other numbers there; None where the reference bears none, and stays as finite as it was."""
    for factor in (rng.uniform(*FACTOR), *WHOLE):

        def made(factor: float = factor) -> Case | None:
            values = [value * factor if n in numbers else value for n, value in enumerate(base.values)]
            values = setting.kept(values, values)
            if all(torch.equal(values[n], base.values[n]) for n in numbers) or hides_nan(setting, values):
                return None
            case = setting.case(values, "another number of what is always the same", base.seed)
            pairs = zip(case.native, base.native, strict=True)
            return case if all(bool((own.isfinite() | ~usual.isfinite()).all()) for own, usual in pairs) else None

        case = where_possible(setting.reference, made)
        if case is not None:
            return case
    return None
