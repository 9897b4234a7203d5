"""Whole places that come twice in all inputs at once, so that it makes no difference which of them is chosen."""

import random
import re
from collections.abc import Callable, Sequence
from functools import partial

import torch

from kernwright.evaluation.drawing.provenance import INDEPENDENT, kind_of
from kernwright.evaluation.errors.another_order import in_order
from kernwright.evaluation.errors.choices import near
from kernwright.evaluation.errors.positions import is_a_choice
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

JOINTLY = "places that come twice"
ORDERS = 2
"""Random ones in which these places come, beside the reverse: of two equal ones the other is the first then."""


def jointly_ways(
    setting: Setting, base: Case, axes: Sequence[tuple[int, int]], rng: random.Random
) -> list[tuple[str, Callable[[], Values]]]:
    """Along each of these axes, by an input's number, where it is free in all inputs that are as long there: a
    reference may choose along any, and what comes twice along another tells nothing of that.

    Only for references of which something is a choice among equal integers: other cases ask for all else.
    """
    groups = {(axis, numbers) for number, axis in axes if len(numbers := _along(setting, base, number, axis)) > 1}
    if not groups or not is_a_choice(setting):
        return []
    return [
        (
            f"{JOINTLY} along axis {axis} of inputs {', '.join(map(str, numbers))}",
            partial(_twice, base, axis, numbers, rng),
        )
        for axis, numbers in sorted(groups)
    ]


def is_joint(case: Case) -> bool:
    """Whether it was made so."""
    return case.label.startswith(JOINTLY)


def _along(setting: Setting, base: Case, number: int, axis: int) -> tuple[int, ...]:
    """Inputs that are as long as this one along an axis; none where one of them is made in an unknown way."""
    length, origins = base.values[number].shape[axis], setting.reference.origins(setting.workload)
    found = []
    for n, value in enumerate(base.values):
        if isinstance(value, torch.Tensor) and value.dim() > axis and value.shape[axis] == length:
            floats = setting.mixes and setting.alters(n, value) and n not in setting.regular
            if kind_of(origins, n) != INDEPENDENT or not (n in setting.free or floats):
                return ()
            found.append(n)
    return tuple(found)


def _twice(base: Case, axis: int, numbers: Sequence[int], rng: random.Random) -> Values:
    values: Values = list(base.values)
    first: torch.Tensor = values[numbers[0]]
    length = first.shape[axis]
    places = torch.randint(length, (length,), generator=generator_for(first, rng), device=first.device)
    for number in numbers:
        values[number] = values[number].index_select(axis, places)
    return values


def with_what_follows(outputs: Sequence[torch.Tensor], case: Case, setting: Setting) -> list[torch.Tensor]:
    """The outputs that stay as they are, or follow, where these places come in another order; else the reference's.

    Where a result names a place, it does neither, since the other of two equal places comes first then.
    """
    follows = where_possible(setting.reference, partial(_follows, case, setting)) or [False] * len(outputs)
    return [got if asked else own for got, own, asked in zip(outputs, case.native, follows, strict=True)]


def _follows(case: Case, setting: Setting) -> list[bool]:
    axis, *numbers = map(int, re.findall(r"\d+", case.label))
    length, rng = case.values[numbers[0]].shape[axis], random.Random(case.seed)
    generator = generator_for(torch.empty(0), rng)
    orders = [torch.arange(length).flip(0), *(torch.randperm(length, generator=generator) for _ in range(ORDERS))]
    follows = [True] * len(case.native)
    for order in orders:
        moved = in_order(setting, case, axis, order, numbers)
        known = [False] * len(follows) if moved is None else map(_is_near, case.native, moved)
        follows = [before and now for before, now in zip(follows, known, strict=True)]
    return follows


def _is_near(own: torch.Tensor, moved: torch.Tensor) -> bool:
    return bool(near(own, moved).all())
