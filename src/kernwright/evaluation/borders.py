"""Numbers that lie on the borders that a problem sorts them by: on which side an equal one falls.

A draw of real numbers hardly ever meets the border of a bucket; data, which were rounded somewhere, do.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from .comparison import Verdict, compare
from .gross import merely_unstable
from .numbers import is_number
from .probe import Probe, Way, all_finite, generator_for, varies
from .reference import Case, Values
from .setting import Setting
from .shortage import where_possible

LABEL = "numbers on borders"
SHARE = 0.25
"""Of an input's numbers, those that are put on a border."""
FEWEST, MOST = 3, 1 << 20
"""Fewer numbers in order are so by chance, more are no borders."""
DIGITS = 256
"""By up to so many last digits, each by its own number of them, a number is moved off its border."""
NEAR = 1e-3
"""Share of a result's size that numbers so near each other may move it by."""
Move = Callable[[torch.Tensor], torch.Tensor]
"""Of numbers that are on borders."""


def border_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Of gradients, which are choices there, nobody is asked."""
    if setting.lean or setting.reference.problem.backward:
        return []
    return [partial(_probe, setting, base, rng)]


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    met = {
        number: found
        for number, value in enumerate(base.values)
        if setting.alters(number, value) and value.dim() and not value.is_complex()
        if (found := _met(value, list(_others(setting, base, number)), rng)) is not None
    }
    if not met:
        return None

    def with_them(moved: Move) -> Values:
        values = [_put(v, *met[n], moved) if n in met else v for n, v in enumerate(base.values)]
        return setting.kept(values, base.values)

    case = setting.case(with_them(lambda on: on), LABEL, base.seed)
    if not all_finite(case.native) or not all(varies(t) for t in case.native):
        return None
    sides = _sides(setting, case, [[with_them(move) for move in moves] for moves in _moves(rng)])
    if sides is None:
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        asked = [torch.where(at, got, own) for at, got, own in zip(sides, outputs, case.native, strict=True)]
        verdict = compare(asked, case, setting.reference.problem, setting.names)
        if not verdict.passed and merely_unstable(asked, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)


def _sides(setting: Setting, case: Case, beside: list[list[Values]]) -> list[torch.Tensor] | None:
    """For each result, where it is what numbers just below the borders give, or just above.

    So it is where numbers are compared with borders. It is not where the order of equal numbers decides, which is a
    choice, nor where their difference is taken and magnified.
    """
    sides: list[torch.Tensor] | None = None
    for values in beside:
        same: list[torch.Tensor] | None = None
        for each in values:
            outputs = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, each))
            if outputs is None:
                return None
            near = [_near(own, other) for own, other in zip(case.native, outputs, strict=True)]
            same = near if same is None else [a & b for a, b in zip(same, near, strict=True)]
        sides = same if sides is None or same is None else [a | b for a, b in zip(sides, same, strict=True)]
    return sides


def _near(own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    if not (own.is_floating_point() or own.is_complex()):
        return own == other
    return (own - other).abs() <= NEAR * float(own.abs().double().square().mean().sqrt())


def _others(setting: Setting, base: Case, number: int) -> Iterator[torch.Tensor]:
    """The other inputs, and what the model holds."""
    device = base.values[number].device
    inputs: list[Any] = [other for n, other in enumerate(base.values) if n != number]
    for other in (*inputs, *setting.model.parameters(), *setting.model.buffers()):
        if is_number(other) and not other.is_complex() and other.device == device:
            yield other.detach()


def _met(
    value: torch.Tensor, others: list[torch.Tensor], rng: random.Random
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """At which places a border is met, and which border it would be at each, if any of the others are borders."""
    generator = generator_for(value, rng)
    for other in rng.sample(others, len(others)):
        borders = _borders(value, other.to(value.dtype), generator)
        if borders is not None:
            return torch.rand(value.shape, generator=generator, device=value.device) < SHARE, borders
    return None


def _put(value: torch.Tensor, at: torch.Tensor, borders: torch.Tensor, moved: Move) -> torch.Tensor:
    return torch.where(at, moved(borders), value)


def _moves(rng: random.Random) -> list[list[Move]]:
    """Lower and higher; and each in two ways, of which one brings equal numbers into the other's order reversed."""
    seed = rng.getrandbits(48)
    return [[partial(_moved, seed, way, turned) for turned in (False, True)] for way in (-1, 1)]


def _moved(seed: int, way: int, turned: bool, borders: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator(borders.device).manual_seed(seed)
    steps = torch.randint(1, DIGITS + 1, borders.shape, generator=generator, device=borders.device)
    steps = DIGITS + 1 - steps if turned else steps
    about = torch.finfo(borders.dtype)
    step = borders.abs().double().clamp(min=about.tiny / about.eps) * about.eps
    return (borders.double() + way * steps * step).to(borders.dtype)


def _borders(value: torch.Tensor, other: torch.Tensor, generator: torch.Generator) -> torch.Tensor | None:
    """Numbers that rise along their last axis; of several rows the place's own where an axis of the value tells it."""
    if not other.dim() or other.shape[-1] < FEWEST or other.numel() > MOST:
        return None
    left, right = other[..., :-1], other[..., 1:]
    if not bool((right >= left).all()) or not bool((right > left).any()):
        return None
    rows = other.reshape(-1, other.shape[-1])
    axis = next((axis for axis in (-1, 0) if len(rows) == value.shape[axis]), None)
    if axis is None:
        rows, axis = rows.reshape(1, -1), 0
    each = (len(rows), value.numel() // len(rows))
    drawn = rows.gather(1, torch.randint(rows.shape[1], each, generator=generator, device=value.device))
    return drawn.reshape(value.movedim(axis, 0).shape).movedim(0, axis)
