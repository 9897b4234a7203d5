"""Whole lines that no generator draws: of zeros, of one number, one that comes twice, one of another input.

A norm of a row is 0 there, or its deviation, or the distance of two points: whoever divides by it, or takes the root of
what rounding left below 0, gives no number where the reference has one. How many digits are left there is another
matter: what hangs on the last digits of such lines is not compared, but has to be a number.
"""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch

from kernwright.evaluation.errors.choices import Move, compare_chosen, decided, settled
from kernwright.evaluation.errors.choosing import chooses
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import is_bearable, merely_unstable
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import by_parts, is_number, real
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .probe import Probe, Way, others, tells

LABEL, EVERYWHERE = "lines of zeros, alike, or of another input", "one number everywhere"
KINDS = 4
SHARE, MOST = 64, 16
"""One line in so many is of each kind, one at least, and no more than that."""
CHANGES, HALF = 8, 0.5
"""So many times -inf and numbers follow each other in this share of the lines of a mask that chance has made."""
LEAST = 2 * KINDS
"""Lines of an axis from which on there are all kinds at once."""


def line_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Three: lines along the last axis, and across it; and inputs of which all is one number, where nothing but numbers
    is asked for: all results may be next to nothing."""
    if setting.lean:
        return []
    lines = [partial(_probe, setting, base, rng, last=last) for last in (False, True)]
    return [*lines, partial(_everywhere, setting, base, rng)]


def _everywhere(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    values: Values = list(base.values)
    for number, value in enumerate(base.values):
        if setting.alters(number, value) and value.numel():
            values[number] = torch.empty_like(value, memory_format=torch.contiguous_format).copy_(_plain(value, rng))
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, EVERYWHERE, base.seed)

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        asked = [_where_known(got, own) for got, own in zip(outputs, case.native, strict=True)]
        broken = breaks_off(asked, case, setting)
        return broken if broken and is_bearable(*_floating(case)) else Verdict(passed=True, ratio=0.0)

    return Probe(case, judge)


def _probe(setting: Setting, base: Case, rng: random.Random, *, last: bool) -> Probe | None:
    values = _with_lines(setting, base, rng, last=last)
    if values is None or hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not tells(setting, case.native):
        return None
    return Probe(case, partial(compare_lines, case=case, setting=setting))


def _with_lines(setting: Setting, base: Case, rng: random.Random, *, last: bool) -> Values | None:
    """The base with such lines; those of another input come last, so that both have them."""
    values, places, axes = list(base.values), dict[int, tuple[int, list[int]]](), dict[torch.Size, int | None]()
    for number, value in enumerate(base.values):
        if not setting.alters(number, value):
            continue
        axis = axes.setdefault(value.shape, _axis(setting, number, value, rng, last=last))
        if axis is not None:
            values[number] = value.clone(memory_format=torch.contiguous_format)
            places[number] = axis, _change(values[number], axis, rng)
    values = setting.kept(values, base.values)
    for number, (axis, some) in places.items():
        value, given = values[number], list(others(setting, values, number))
        for index in some:
            found = list(_lines_like(value.select(axis, index), given, axis, index))
            if found:
                value.select(axis, index).copy_(rng.choice(found))
    _meet(values, {number: axis for number, (axis, _) in places.items()}, rng)
    values = setting.kept(values, base.values)
    masks = [n for n, value in enumerate(values) if n not in setting.held and _is_mask_by_chance(value)]
    for number in masks:
        values[number] = _without_first_half(values[number], rng)
    return values if places or masks else None


def _meet(values: Values, axes: dict[int, int], rng: random.Random) -> None:
    """A line of zeros at one place in all inputs of a shape: what divides by them together meets 0 there alone."""
    for shape in dict.fromkeys(values[number].shape for number in axes):
        alike = [number for number in axes if values[number].shape == shape]
        if len(alike) > 1 and (n := shape[axes[alike[0]]]) >= KINDS:
            index = rng.randrange(n)
            for number in alike:
                values[number].select(axes[number], index).zero_()


def _axis(setting: Setting, number: int, value: torch.Tensor, rng: random.Random, *, last: bool) -> int | None:
    """One along which there are several lines: the last, or another, which has enough of them if one has."""
    axes = [value.dim() - 1] if last else list(range(value.dim() - 1))
    several = [axis for axis in axes if value.shape[axis] > 1] if value.dim() > 1 else []
    long = [axis for axis in several if value.shape[axis] >= LEAST] or several
    return setting.reference.turns.next(f"lines of input {number}, {last}", long, rng) if long else None


def _change(value: torch.Tensor, axis: int, rng: random.Random) -> list[int]:
    """Put lines of the first three kinds into it; gives where those of another input go."""
    n = value.shape[axis]
    count = max(1, min(n // SHARE, MOST))
    chosen = rng.sample(range(n), min(KINDS * count, n // 2))
    rng.shuffle(chosen)
    kinds = rng.sample(range(KINDS), KINDS)  # of few lines there are some kinds alone
    parts = {kind: chosen[place::KINDS] for place, kind in enumerate(kinds)}
    for index in parts[0]:
        value.select(axis, index).zero_()
    for index in parts[1]:
        value.select(axis, index).copy_(_plain(value, rng))
    for index in parts[2]:
        value.select(axis, index).copy_(value.select(axis, (index + rng.randrange(1, n)) % n).clone())
    return parts[3]


def _plain(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """A power of 2 about as large as a number that was drawn: sums of it are exact in any order. Where the value is."""
    number = real(value[tuple(rng.randrange(n) for n in value.shape)]).flatten()[0].double()
    size = number.abs().clamp_min(torch.finfo(value.dtype).tiny)
    power = (size / torch.frexp(size).mantissa / 2).copysign(number)
    return torch.where(torch.isfinite(number) & (number != 0), power, 0.0)


def _is_mask_by_chance(value: Any) -> bool:
    """Whether -inf and numbers change so often along its lines that no length or window says where: flags or not, any
    of them might have been others."""
    if not is_number(value) or value.is_complex() or not value.dim():
        return False
    gone = torch.isneginf(value).view(torch.int8)
    often: torch.Tensor = gone.diff(dim=-1).count_nonzero(dim=-1) > CHANGES
    return float(often.double().mean()) > HALF


def _without_first_half(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """In a few lines of a mask: a kernel that takes it in tiles meets nothing but -inf in the first."""
    made = value.clone(memory_format=torch.contiguous_format)
    lines, half = made.view(-1, made.shape[-1]), made.shape[-1] // 2
    for index in rng.sample(range(len(lines)), max(1, min(len(lines) // SHARE, MOST))):
        if bool(lines[index, half:].isfinite().any()):
            lines[index, :half] = -torch.inf
    return made


def _lines_like(line: torch.Tensor, given: Sequence[torch.Tensor], axis: int, index: int) -> Iterator[torch.Tensor]:
    """Lines of this shape, at the same place where the other has as many."""
    for other in given:
        if other.dtype != line.dtype:
            continue
        if other.shape == line.shape:
            yield other
        elif other.dim() == line.dim() + 1 and index < other.shape[axis]:
            found = other.select(axis, index)
            if found.shape == line.shape:
                yield found


def compare_lines(outputs: list[torch.Tensor], case: Case, setting: Setting) -> Verdict:
    """What last digits do not decide, with few digits where many are lost; elsewhere it must be a number.

    Of gradients, which are choices at kinks, no more is asked than that. Where the reference has no number nothing is
    asked, nor where it has one by chance, as from a matrix without an inverse.
    """
    names = setting.names
    asked = [_where_known(got, own) for got, own in zip(outputs, case.native, strict=True)]
    free = [name.startswith("gradient") for name in names]
    given = [own if choice else got for got, own, choice in zip(asked, case.native, free, strict=True)]
    near = merely_unstable(given, case.native, case.native)
    broken = None if near and not any(free) else breaks_off(asked, case, setting)
    if near and broken is None:
        return Verdict(passed=True, ratio=0.0)  # as near as is asked, so that no oracle is needed
    verdict = broken or compare_chosen(given, case, setting)
    if verdict.passed or not is_bearable(*_floating(case)):
        return Verdict(passed=True, ratio=min(verdict.ratio, 1.0))
    if broken is not None:
        return broken
    if merely_unstable(given, case.native, case.oracle):
        return Verdict(passed=True, ratio=1.0)

    def moved(move: Move) -> Values:
        return setting.kept([by_parts(move, v) if is_number(v) else v for v in case.values], case.values)

    at = decided(setting, case, moved, case.seed)
    if at is None or merely_unstable(settled(given, case, at), case.native, case.oracle):
        return Verdict(passed=True, ratio=1.0)
    return verdict


def _where_known(got: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    return torch.where(own.isnan(), own, got) if is_number(own) else got


def _floating(case: Case) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    pairs = [(own, true) for own, true in zip(case.native, case.oracle, strict=True) if is_number(own)]
    return [own for own, _ in pairs], [true for _, true in pairs]


def breaks_off(outputs: Sequence[torch.Tensor], case: Case, setting: Setting) -> Verdict | None:
    """Where a result is no number and the reference's is one, narrow or wide; infinities that the reference puts beside
    what it has chosen among equal numbers may lie elsewhere."""
    for index, (name, got, own) in enumerate(zip(setting.names, outputs, case.native, strict=True)):
        bad: Any = ~torch.isfinite(got) & torch.isfinite(own)
        if bool(bad.any()) and bool((bad := bad & torch.isfinite(case.oracle[index])).any()):
            if _has_such(own, got[bad]) and where_possible(setting.reference, partial(chooses, setting, case.values)):
                continue
            at = tuple(map(int, bad.nonzero()[0]))
            detail = f"{name} at {list(at)}: expected {own[at].item():.6g}, got {got[at].item():.6g}"
            return Verdict(passed=False, ratio=float("inf"), detail=detail)
    return None


def _has_such(own: torch.Tensor, bad: torch.Tensor) -> bool:
    """Whether all of these are infinities of a sign that the reference's own result has."""
    return not own.is_complex() and bool(torch.isin(bad, own[own.isinf()]).all())
