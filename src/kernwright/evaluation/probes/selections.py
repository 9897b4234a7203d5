"""Problems that select among their inputs: ties, and infinities."""

import random
from functools import partial

import torch

from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_decided
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.firsts import takes_first
from kernwright.evaluation.errors.nans import has_nan, hides_nan, makes_nan
from kernwright.evaluation.numbers import by_parts, generator_for, is_number, real, varies
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, changed, small_integers

INFINITE_SHARE = 0.01
STRETCH = 1 << 20
"""Numbers of an input that are gone through at a time, where what is made of them takes more memory than they do."""
LOOKED_AT = 4096
"""Outputs that are looked at for whether a problem only selects among its inputs."""


def selection_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two, each of which is none where the problem reckons with its inputs."""
    return [partial(_tied, setting, base, rng), partial(_infinite, setting, base, rng)]


def _tied(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """Few distinct values, for problems that select: which of several equal ones is only asked where that is known."""
    if not selects(setting, base):
        return None
    values = changed(setting, base, small_integers(rng))
    if hides_nan(setting, values):
        return None
    case = setting.case(values, "ties", base.seed)
    return Probe(case, partial(_first_of_equal, setting, case, takes_first(setting, base)))


def _infinite(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """A few infinities, for problems that select."""
    if not selects(setting, base):
        return None

    def some(value: torch.Tensor) -> torch.Tensor:
        generator = generator_for(value, rng)
        at = torch.rand(value.shape, generator=generator, device=value.device)
        value = torch.where(at < INFINITE_SHARE / 2, torch.full_like(value, -torch.inf), value)
        # One that is larger than all others, so that no two are tied.
        value = value.contiguous()
        if value.numel():
            value.flatten()[rng.randrange(value.numel())] = torch.inf
        return value

    case = setting.case(changed(setting, base, some), "infinities", base.seed)
    if any(map(has_nan, case.native)):
        return None
    if makes_nan(setting, case.values):
        return None
    if not any(t.is_floating_point() for t in case.native) and not _mere_size(setting, case):
        return None
    return Probe(case, partial(_first_of_equal, setting, case, takes_first(setting, base)))


def _first_of_equal(setting: Setting, case: Case, first: list[bool], outputs: list[torch.Tensor]) -> Verdict:
    """Which of several equal ones is only asked where the `first` is known to be taken."""
    return beside_any_choice(partial(_known_alone, setting, outputs, first), case, setting)


def _known_alone(setting: Setting, outputs: list[torch.Tensor], first: list[bool], case: Case) -> Verdict:
    settled = [
        got if known or got.is_floating_point() or got.dtype == torch.bool else native
        for got, native, known in zip(outputs, case.native, first, strict=True)
    ]
    return compare_decided(settled, case, setting, all_integers=True)


def _mere_size(setting: Setting, case: Case) -> bool:
    """Whether infinities are to the problem as large numbers are; else it makes NaNs of them, whose order is free."""

    def large(value: torch.Tensor) -> torch.Tensor:
        finite = value[torch.isfinite(value)]
        most = 2 * max(torch.finfo(value.dtype).max ** (1 / 3), float(finite.abs().amax()) if finite.numel() else 0.0)
        return torch.where(torch.isinf(value), value.sign() * most, value)

    values = setting.kept([by_parts(large, v) if is_number(v) else v for v in case.values], case.values)
    finite = setting.reference.outputs(setting.model, values)
    return all(torch.equal(one, other) for one, other in zip(finite, case.native, strict=True))


def selects(setting: Setting, base: Case) -> bool:
    """Whether every output is a value of some input, or an index or truth value; found out once for each workload."""

    def found() -> bool:
        return (
            not any(output.is_complex() for output in base.native)
            and any(varies(output) for output in base.native)
            and not _copies(base)
            and all(_all_given(base, count) for count in (1, LOOKED_AT))  # mostly the first says no
        )

    return setting.reference.known.once(setting.workload, "selects", found)


def _all_given(base: Case, count: int) -> bool:
    """Whether the first so many numbers of each floating output are among those of the inputs."""
    wanted = [t.flatten()[:count].double() for t in base.native if t.is_floating_point()]
    if not wanted:
        return True
    missing = torch.cat(wanted).sort().values
    repeated = torch.zeros_like(missing, dtype=torch.bool)
    repeated[1:] = missing[1:] == missing[:-1]
    missing = missing[~repeated]
    for value in (real(v).flatten() for v in base.values if is_number(v)):
        for part in torch.split(value, STRETCH):
            given = part.double()
            nearest = torch.searchsorted(missing, given).clamp_(max=missing.numel() - 1)
            found = torch.zeros_like(missing, dtype=torch.bool)
            found[nearest[missing[nearest] == given]] = True
            missing = missing[~found]
            if missing.numel() == 0:
                return True
    return False


def _copies(base: Case) -> bool:
    """Whether as much comes out as goes in, in floats alone: a copy, with nothing to choose."""
    given = sum(v.numel() for v in base.values if isinstance(v, torch.Tensor))
    return all(t.is_floating_point() for t in base.native) and sum(t.numel() for t in base.native) >= given
