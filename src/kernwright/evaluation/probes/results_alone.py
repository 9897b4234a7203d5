"""Of a problem that asks for gradients, its results alone: where numbers are equal, or lie on a bound, a gradient is a
choice, and a result is not.

The reference goes backward all the same, so that values of which it has no gradient are left out.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch

from kernwright.core.problem import Workload
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Asked, Case, Ready, Values
from kernwright.evaluation.problem.gradients import Slope
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.turns import Turns

from .alike import alike_ways
from .arrangements import arrangement_ways
from .borders import border_ways
from .chains import chain_ways
from .literals import asked_case, with_asked_for
from .probe import Probe, Way, in_time, shown_far


def results_alone(setting: Setting) -> Setting | None:
    """The setting as if nobody asked for gradients, whose directions stay as they were drawn; None where nobody does,
    and of a lean one, which has no room for this."""
    if setting.lean or not setting.reference.problem.backward:
        return None
    count = sum(not name.startswith("gradient") for name in setting.names)
    reference = _Alone(setting.reference, count)
    given = len(setting.bases[0].values)
    directions = range(given - len(reference.slopes(setting.workload)), given)
    return replace(
        setting,
        reference=reference,
        bases=[_cut(base, reference, setting, count) for base in setting.bases],
        output_shapes=setting.output_shapes[:count],
        names=setting.names[:count],
        marks=setting.marks | {*directions},
    )


def tie_probes(alone: Setting, rng: random.Random, more: Sequence[Way] = ()) -> Iterator[Probe]:
    """What gradients are not asked for, of such a setting: equal numbers, numbers on one grid, on borders, and those
    that the reference compares with; and whatever is `more`. In any order, for as long as there is time."""
    base = rng.choice(alone.bases)
    if not alone.mixes or not any(is_number(v) and alone.alters(n, v) for n, v in enumerate(base.values)):
        return
    ways = [*more, *arrangement_ways(alone, base, rng), *border_ways(alone, base, rng), *alike_ways(alone, base, rng)]
    ways += [*chain_ways(alone, base, rng), partial(_asked_for, alone, base, rng)]
    rng.shuffle(ways)
    for probe in in_time(alone, ways):
        yield Probe(probe.case, partial(_first, len(alone.names), probe.compare))


def _first(count: int, compare: Callable[[list[torch.Tensor]], Verdict], outputs: list[torch.Tensor]) -> Verdict:
    return compare(outputs[:count])


def _asked_for(alone: Setting, base: Case, rng: random.Random) -> Probe | None:
    values = with_asked_for(alone, base, rng)
    if values is None or hides_nan(alone, values):
        return None
    return shown_far(alone, base, asked_case(alone, base, values))


class _Alone(Reference):
    """Another one, with all that it knows, of whose results the first few are looked at."""

    def __init__(self, whole: Reference, count: int) -> None:
        self.__dict__.update(whole.__dict__)  # notes too: they are the same list
        self.problem = replace(whole.problem, backward=False)
        self.known = whole.known.but("selects", "exact", "choices", fan_in=lambda each: each[:count])
        self.turns = Turns()
        self._count = count

    def slopes(self, workload: Workload) -> tuple[Slope, ...]:
        """As they were found."""
        return self._slopes[workload.name]

    def _forward(self, model: torch.nn.Module, values: Values, seed: int = 0) -> list[torch.Tensor]:
        return super()._forward(model, values, seed)[: self._count]


def _cut(base: Case, reference: Reference, setting: Setting, count: int) -> Case:
    native, fan_in = base.native[:count], base.fan_in[:count]
    if setting.double is None:
        return Ready(base.values, native, base.oracle[:count], base.label, base.seed, fan_in)
    wide, again = partial(reference.wide, setting.double), partial(reference.outputs, setting.model)
    return Asked(base.values, native, base.label, base.seed, lambda: base.oracle[:count], fan_in, wide, again)
