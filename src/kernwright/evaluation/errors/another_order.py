"""Which results stay as they are when elements come in another order, or come in that order too."""

import math
import random
from collections.abc import Collection, Iterable, Iterator
from functools import partial

import torch

from kernwright.evaluation.numbers import generator_for, told
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .choices import near

MOST_AXES = 4
"""Axes of an input along which elements come in another order, the longest first."""
FEW, ORDERS = 8, 3
"""Along axes shorter than this so many orders are tried: one alone may leave in place what counts."""
MANY = 16
"""Of so many elements and more no order that is drawn is the one that they have."""


def followed_by(setting: Setting, case: Case, numbers: Iterable[int], rng: random.Random) -> list[bool]:
    """Of each result, whether it is the same in every order of these inputs, or follows their order."""
    follows = [True] * len(case.native)
    for number in numbers:
        for axis in _axes(case.values[number]):
            for order in _orders(case.values[number], axis, rng):
                ways = list(_in_its_order(setting, case, number, axis, order))
                same = [[near(own, got).all() for own, got in zip(case.native, way, strict=True)] for way in ways]
                alike = iter(told(one for way in same for one in way))
                each = [[bool(next(alike)) for _ in way] for way in same]
                follows = [known and any(way[n] for way in each) for n, known in enumerate(follows)]
                if not any(follows):
                    return follows
    return follows


def _axes(value: torch.Tensor) -> list[int]:
    axes = [axis for axis, size in enumerate(value.shape) if size > 1]
    return sorted(axes, key=lambda axis: -value.shape[axis])[:MOST_AXES]


def _orders(value: torch.Tensor, axis: int, rng: random.Random) -> list[torch.Tensor]:
    """Orders of an axis' elements, none of them the one that they have: it would tell nothing."""
    n = value.shape[axis]
    if n >= MANY:
        return [torch.randperm(n, generator=generator_for(value, rng), device=value.device)]
    found: list[list[int]] = []
    while len(found) < (min(ORDERS, math.factorial(n) - 1) if n < FEW else 1):
        order = rng.sample(range(n), n)
        if order != sorted(order) and order not in found:
            found.append(order)
    return [torch.tensor(order, device=value.device) for order in found]


def _in_its_order(
    setting: Setting, case: Case, number: int, axis: int, order: torch.Tensor
) -> Iterator[list[torch.Tensor]]:
    """What the reference makes of a case in another order, put back: of whatever is as long there, and of what has the
    input's shape alone."""
    value: torch.Tensor = case.values[number]
    n = value.shape[axis]
    as_long = [isinstance(v, torch.Tensor) and v.dim() > axis and v.shape[axis] == n for v in case.values]
    alike = [isinstance(v, torch.Tensor) and v.shape == value.shape for v in case.values]
    for moved in [as_long] if alike == as_long else [as_long, alike]:
        results = in_order(setting, case, axis, order, [n for n, at in enumerate(moved) if at])
        if results is not None:
            yield results


def in_order(
    setting: Setting, case: Case, axis: int, order: torch.Tensor, numbers: Collection[int]
) -> list[torch.Tensor] | None:
    """What the reference makes of a case where these inputs are in another order along an axis, put back."""
    values: Values = [
        v.index_select(axis, order.to(v.device)) if n in numbers else v for n, v in enumerate(case.values)
    ]
    results = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
    if results is None or [t.shape for t in results] != [t.shape for t in case.native]:
        return None
    return [_put_back(got, own, order.to(got.device)) for got, own in zip(results, case.native, strict=True)]


def _put_back(got: torch.Tensor, own: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The result as it is, or along an axis in the inputs' old order, whatever is nearest."""
    axes = [axis for axis, size in enumerate(got.shape) if size == len(order)]
    if not axes:
        return got
    back = order.argsort()
    results = [got, *(got.index_select(axis, back) for axis in axes)]
    away = told(_distance(result, own) for result in results)
    return results[away.index(min(away))]


def _distance(got: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    if got.is_floating_point() or got.is_complex():
        return (got - own).abs().nan_to_num(posinf=0.0).double().sum()
    return (got != own).sum()
