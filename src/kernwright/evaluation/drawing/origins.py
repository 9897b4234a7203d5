"""What several runs of a generator have in common: bounds that Python draws are another draw's no bounds."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import torch

from .provenance import UNKNOWN, Origin, Origins, Provenance

LEAST, ENOUGH, MOST = 2, 8, 16
"""Runs that are watched; where Python draws numbers, or sees some, so many or more: one of two would come out equal
too often in fewer."""
LONG_S = 0.25
"""After this there are no more than `ENOUGH`."""
FAR_TOO_LONG_S = 5.0
"""After this there are none, and nothing is known where there are not enough."""


@dataclass(frozen=True, slots=True)
class _Run:
    origins: Sequence[Origin | None]
    said: Sequence[list[list[str]]]
    """Of each input, what was done with the draws that it was made of."""
    flags: Sequence[bool]
    """Whether an input is of truth values: whatever the chances, any of them may come."""
    plain: dict[int, float]
    """Inputs that are a number of Python's."""
    chooses: bool
    """Whether Python drew numbers, or saw some."""


@dataclass(frozen=True, slots=True)
class Made:
    """How a generator makes its inputs."""

    origins: Origins
    plain: frozenset[int]
    """Those that are a number of Python's which came out the same in every run."""


def origins_of(make: Callable[[int], Any], device: str) -> Made:
    """Of what `make` gives under a seed."""
    start, runs = perf_counter(), list[_Run]()
    while len(runs) < MOST:
        runs.append(_watched(make, len(runs), device))
        passed = perf_counter() - start
        if len(runs) >= LEAST and not any(run.chooses for run in runs):
            break
        if (passed > LONG_S and len(runs) >= ENOUGH) or (passed > FAR_TOO_LONG_S and len(runs) >= LEAST):
            break
    known = not any(run.chooses for run in runs) or len(runs) >= ENOUGH
    always = [n for n, number in runs[0].plain.items() if all(run.plain.get(n) == number for run in runs)]
    origins = [_common(runs, n, known=known) for n in range(len(runs[0].origins))]
    return Made(origins, frozenset(always if known else ()))


def _watched(make: Callable[[int], Any], seed: int, device: str) -> _Run:
    with Provenance(device) as watch:
        values = make(seed)
    flags = [isinstance(value, torch.Tensor) and value.dtype == torch.bool for value in values]
    plain = {n: value for n, value in enumerate(values) if isinstance(value, int | float)}
    return _Run(watch.of(values), watch.said_of(values), flags, plain, watch.looked or _python_drew(seed))


def _common(runs: Sequence[_Run], number: int, *, known: bool) -> Origin | None:
    first = runs[0]
    origin = first.origins[number]
    if origin is None or any(len(run.origins) != len(first.origins) for run in runs):
        return None
    others = [run.origins[number] for run in runs]
    alike = all(other and (other.kind, other.bounds) == (origin.kind, origin.bounds) for other in others)
    said = first.flags[number] or all(run.said[number] == first.said[number] for run in runs)
    if not (known and alike and said):
        return replace(origin, kind=UNKNOWN, bounds=None, below=None)
    same = all(other and _same_below(origin, other) for other in others)
    return origin if same else replace(origin, below=None)


def _same_below(one: Origin, other: Origin) -> bool:
    return one.below is not None and other.below is not None and torch.equal(one.below, other.below)


def _python_drew(seed: int) -> bool:
    """Whether its generators, or NumPy's, are other than this seed made them."""
    if random.getstate() != random.Random(seed).getstate():
        return True
    try:
        import numpy
    except ModuleNotFoundError:
        return False
    fresh: Any = numpy.random.RandomState(seed % 2**32).get_state()
    found: Any = numpy.random.get_state()
    return not (numpy.array_equal(fresh[1], found[1]) and fresh[2:] == found[2:])
