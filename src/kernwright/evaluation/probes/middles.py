"""Results of the middle sizes alone, where a few large ones are all of the size of the whole.

The rule of error goes by the root mean square of a result. In what has heavy tails, as 1 / x, that is a handful of
numbers, and all others might have a dozen digits less. Where each result hangs on the inputs at its own place alone,
the places of the largest and of the smallest may have the inputs of others: every number is one that was drawn, at a
place where it might have come, and a right kernel is off by as much as before at each.
"""

import random
from collections.abc import Sequence
from functools import partial

import torch

from kernwright.evaluation.drawing.regularity import kept
from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import size
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, tells

LABEL = "results of the middle sizes alone"
LEAST, FEWEST = 256, 16
"""Numbers of a result, and places whose inputs others get."""
LOOKED_AT = 4096
QUANTILES = (0.25, 0.5, 0.75)
HEAVY = 4.0
"""How many times the median of its sizes, but for zeros, that of a whole is: 1.5 of normal numbers, 3.8 of squares."""
TOP, APART = 16, 1.5
"""How many times so many of the largest results differ at least: where they are alike, as of a gate that is mostly
closed, a function has a bound, and honest kernels round beside that, as 0.5 + 0.5 tanh(x / 2) does."""
LAST = 8
"""Epsilons by which a number may come out otherwise at another place, as in the rest of a vector."""


def middle_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One."""
    return [] if setting.lean else [partial(_probe, setting, base, rng)]


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    bounds = {n: found for n, t in enumerate(base.native) if (found := _bounds(t, rng)) is not None}
    if not bounds:
        return None
    number = setting.reference.turns.next(LABEL, [*bounds], rng)
    made = base.native[number]
    inputs = [n for n, v in enumerate(base.values) if isinstance(v, torch.Tensor) and v.shape == made.shape]
    if not inputs or not all(_goes_along(setting, n, base.values[n]) for n in inputs):
        return None
    places = _places(made, *bounds[number], rng)
    if places is None:
        return None
    values = list(base.values)
    for n in inputs:
        values[n] = values[n].flatten().index_select(0, places.to(values[n].device)).view(made.shape)
    case = setting.case(kept(values, setting.regular), LABEL, base.seed)
    asked = [_went_along(own, before, places) for own, before in zip(case.native, base.native, strict=True)]
    if not asked[number] or not tells(setting, case.native, number=True):
        return None
    return Probe(case, partial(_judged, setting, case, asked))


def _judged(setting: Setting, case: Case, asked: Sequence[bool], outputs: list[torch.Tensor]) -> Verdict:
    given = [got if known else own for got, own, known in zip(outputs, case.native, asked, strict=True)]
    problem = setting.reference.problem
    lost = problem.tolerance.epsilon_factor * torch.finfo(torch.float32).eps  # what is rounded off 1, as in exp(x) - 1
    return compare_chosen(given, case, setting, [lost if t.is_floating_point() else 0.0 for t in given])


def _bounds(made: torch.Tensor, rng: random.Random) -> tuple[float, float] | None:
    """Between which sizes the middle ones lie; None where the whole is not much larger than these."""
    if not made.is_floating_point() or made.numel() < LEAST:
        return None
    some = torch.randint(made.numel(), (LOOKED_AT,), generator=generator_for(made, rng), device=made.device)
    sizes = made.flatten()[some].abs().double()
    sizes = sizes[sizes.isfinite() & (sizes > 0)]
    if not sizes.numel():
        return None
    low, median, high = sizes.quantile(torch.tensor(QUANTILES, dtype=sizes.dtype, device=sizes.device)).tolist()
    if size(made) <= HEAVY * median:  # not where one is infinite, or no number
        return None
    sizes = made.flatten().abs()
    largest = torch.where(sizes.isfinite(), sizes, 0).topk(TOP).values
    return (low, high) if bool(largest[0] >= APART * largest[-1]) else None


def _places(made: torch.Tensor, low: float, high: float, rng: random.Random) -> torch.Tensor | None:
    """For each place, flat, the one whose inputs it gets: those of the middle sizes keep their own."""
    sizes = made.flatten().abs()
    middle = (sizes >= low) & (sizes <= high)
    known = middle.nonzero().flatten()
    if len(known) < FEWEST:
        return None
    other = known[torch.randint(len(known), sizes.shape, generator=generator_for(made, rng), device=made.device)]
    return torch.where(middle, torch.arange(sizes.numel(), device=made.device), other)


def _goes_along(setting: Setting, number: int, value: torch.Tensor) -> bool:
    """Whether any place of an input may have what another one has: integers may hang together."""
    if number in setting.held or (number in setting.regular and not setting.regular[number].by_element):
        return False
    return value.is_floating_point() or value.is_complex() or number in setting.free


def _went_along(own: torch.Tensor, before: torch.Tensor, places: torch.Tensor) -> bool:
    """Whether a result is what it was at the place where the inputs come from, and so hangs on these alone."""
    if own.numel() != places.numel():
        return False
    moved, found = before.flatten().index_select(0, places.to(before.device)), own.flatten()
    same = found == moved
    if not bool(same.all()) and (own.is_floating_point() or own.is_complex()):
        same |= found.isnan() & moved.isnan()
        same |= (found - moved).abs() <= LAST * torch.finfo(own.dtype).eps * moved.abs()
    return bool(same.all())
