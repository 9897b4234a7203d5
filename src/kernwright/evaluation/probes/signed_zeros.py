"""Zeros of both signs in one input: they are equal, and their bits are not.

A draw of real numbers has hardly any zero, and no two of them. Who puts numbers in order by their bits, or counts equal
ones by them, is right on all that a generator draws. What tells one zero from the other on purpose, as 1 / x does, is
known by what the reference makes of the same numbers when no zero has a sign: where that differs, nothing is asked.
What equal numbers leave open is left open here too: an order that is not stable, say.
"""

import ast
import random
from collections.abc import Sequence
from functools import lru_cache, partial

import torch

from kernwright.evaluation.errors.another_order import followed_by
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_chosen, compare_decided
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.firsts import takes_first
from kernwright.evaluation.errors.gross import is_bearable, loses_digits_alone
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import chances, generator_for, told
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting

from .asked import COMPARED
from .literals import CHOOSING
from .probe import Probe, Way, compare_far, tells
from .selections import selects

LABEL = "zeros of both signs"
ORDERING = (
    CHOOSING
    | COMPARED
    | frozenset("argwhere bucketize cummax cummin equal histc histogram isclose isin logcumsumexp".split())
)
"""What puts numbers in order, or tells equal ones, by name: of other references the sign of a zero changes little."""
SHARE = (0.1, 0.5)
"""Of an input's numbers, those that are zero, where places are chosen at random."""
MOST = 0.75
"""Share of a slice up to which all numbers on one side of 0 become zeros, so that these are the largest, or least."""
LEAST = 8
"""Numbers of an input."""
ORDERS = 4
"""A result is no choice among equal numbers where it stays in so many orders of each axis, or follows them."""


def signed_zero_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two, of references that compare: in one input, and in all. At 0 a gradient is a choice."""
    if setting.lean or setting.reference.problem.backward:
        return []
    floating = all(t.is_floating_point() or t.is_complex() for t in base.native)
    if floating and not _orders(setting.reference.problem.source):
        return []
    numbers = [
        n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex() and v.numel() >= LEAST
    ]
    marks = [n for n, v in enumerate(base.values) if n in setting.marks - setting.held and _has_signs(v)]
    known = [*numbers, *marks]
    if not known:
        return []
    ordered = any(_is_ordered(setting, n) for n in known)
    some = known if ordered else [setting.reference.turns.next(LABEL, known, rng)]
    return [partial(_probe, setting, base, rng, each, last) for each, last in ((some, False), (known, True))]


def _is_ordered(setting: Setting, number: int) -> bool:
    """A line in order has one zero, which is compared with those of other inputs: once as 0, and once as -0."""
    return number in setting.regular and bool(setting.regular[number].orders)


@lru_cache(maxsize=16)
def _orders(source: str) -> bool:
    nodes = [*ast.walk(ast.parse(source))]
    named = {node.attr.strip("_") for node in nodes if isinstance(node, ast.Attribute)}
    return bool(ORDERING & named) or any(isinstance(node, ast.Compare) for node in nodes)


def _has_signs(value: torch.Tensor) -> bool:
    """Whether marks are on both sides of 0, and on it: of flags a zero has no sign that anybody would expect."""
    return not value.is_complex() and all(told(at.any() for at in (value < 0, value > 0, value == 0)))


def _probe(setting: Setting, base: Case, rng: random.Random, numbers: Sequence[int], last: bool) -> Probe | None:
    """`last`: slices are those along the last axis, else along the first."""
    values: Values = list(base.values)
    for number in numbers:
        if number not in setting.marks:
            values[number] = _with_zeros(setting, number, base.values[number], rng, last=last)
    values = setting.kept(values, base.values)
    unsigned = list(values)
    for number in numbers:
        unsigned[number] = torch.where(values[number] == 0, torch.zeros_like(values[number]), values[number])
        signs = torch.rand(
            values[number].shape, generator=generator_for(values[number], rng), device=values[number].device
        )
        signs = torch.full_like(signs, 0.5 - last) if _is_ordered(setting, number) else signs - 0.5
        values[number] = _signed(unsigned[number], signs)
    if not any(_has_negative_zero(values[number]) for number in numbers) or hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not tells(setting, case.native, finite=True):
        return None
    return Probe(case, partial(_judged, setting, base, case, unsigned, numbers, rng))


def _judged(
    setting: Setting,
    base: Case,
    case: Case,
    unsigned: Values,
    numbers: Sequence[int],
    rng: random.Random,
    outputs: list[torch.Tensor],
) -> Verdict:
    """As of other equal numbers; beside that of whatever another order leaves as it is, or puts in that order."""
    verdict = compare_far(setting, base, case, outputs)
    if verdict.passed:
        return verdict
    if _tells_them_apart(setting, case, unsigned):
        return Verdict(passed=True, ratio=1.0)
    return beside_any_choice(partial(_as_of_equal, setting, base, case, numbers, rng, outputs), case, setting)


def _as_of_equal(
    setting: Setting,
    base: Case,
    case: Case,
    numbers: Sequence[int],
    rng: random.Random,
    outputs: list[torch.Tensor],
    chosen: Case,
) -> Verdict:
    """`chosen`: the case, or what its reference makes of it where it chooses otherwise."""
    if selects(setting, base):
        first = takes_first(setting, base)
        known = [a or t.is_floating_point() or t.dtype == torch.bool for a, t in zip(first, case.native, strict=True)]
        decided = compare_decided(_where(known, outputs, chosen), chosen, setting, all_integers=True)
    else:
        decided = compare_decided(outputs, chosen, setting)
    if not decided.passed or not is_bearable(case.native, case.oracle):
        return decided
    follows = [True] * len(case.native)
    for _ in range(ORDERS):
        follows = [a and b for a, b in zip(follows, followed_by(setting, case, numbers, rng), strict=True)]
        if not any(follows):
            return decided
    asked = _where(follows, outputs, chosen)
    verdict = compare_chosen(asked, chosen, setting)
    return decided if verdict.passed or loses_digits_alone(asked, chosen, gradients=False) else verdict


def _where(asked: Sequence[bool], outputs: list[torch.Tensor], case: Case) -> list[torch.Tensor]:
    """The outputs that are asked for, and the reference's own of the others."""
    return [got if known else own for got, own, known in zip(outputs, case.native, asked, strict=True)]


def _tells_them_apart(setting: Setting, case: Case, unsigned: Values) -> bool:
    """Looked at where outputs differ from the reference's alone, as they seldom do."""
    if not _same(setting.reference.outputs(setting.model, unsigned), case.native):
        return True
    return setting.double is not None and not _same(setting.reference.wide(setting.double, unsigned), case.oracle)


def _same(some: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(some, others, strict=True))


def _with_zeros(setting: Setting, number: int, value: torch.Tensor, rng: random.Random, *, last: bool) -> torch.Tensor:
    """In turn a slice has zeros in place of numbers above 0, of those below, and of any; a line in order has one."""
    if _is_ordered(setting, number):
        axis, at = setting.regular[number].orders[0].axis, torch.zeros_like(value, dtype=torch.bool)
        return value.masked_fill(at.scatter(axis, value.abs().argmin(axis, keepdim=True), True), 0)
    axis = value.dim() - 1 if last else 0
    across = [other for other in range(value.dim()) if other != axis]  # of one axis all is a slice
    count, shape = (value.shape[axis], [-1 if n == axis else 1 for n in range(value.dim())]) if across else (1, [1])
    kinds = (torch.arange(count, device=value.device) + int(last)) % 3
    at = chances(value, rng) < rng.uniform(*SHARE)
    for kind, side in enumerate((value > 0, value < 0)):
        chosen = (kinds == kind) & (side.mean(across, dtype=torch.float32) <= MOST)
        at = torch.where(chosen.view(shape), side, at)
    return value.masked_fill(at, 0)


def _signed(value: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
    return torch.where(value == 0, torch.zeros_like(value).copysign(signs.to(value.dtype)), value)


def _has_negative_zero(value: torch.Tensor) -> bool:
    return bool(((value == 0) & value.signbit()).any())
