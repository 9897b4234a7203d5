"""One input away from where its numbers were drawn: gates that no draw leaves open, and densities that no draw has.

What forgets, decays or is filled up after some steps on all that a generator draws may go on for longer elsewhere; who
stops there is right by chance. By how much errors differ is chance too, so that no more is asked than for other values
far from the generator's.
"""

import random
from collections.abc import Mapping, Sequence
from functools import partial

import torch

from kernwright.evaluation.errors.choices import compare_decided
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, far_probe

LABEL, APART = "an input shifted", "inputs shifted apart"
BY, MOST = (2.5, 6.0), 3
"""Standard deviations, and inputs that are shifted, each alone, to either side."""
FAR, SOME = 5.0, 2
"""As many times 1, of so many inputs, whatever the deviation is: to what is nearly open, and not as far as where
nothing is left."""
WIDE, TOGETHER = (4.0, 6.0), 4
"""Standard deviations, and inputs that are shifted at once, so that each is once above while another is below: what two
gates have to do with each other stays within what was drawn where both go the same way, or one alone.
"""
LOOKED_AT = 1 << 20
"""Numbers of an input whose deviation is its own."""


def shift_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two for each input, two more for some whose numbers are near each other, and some for several at once."""
    numbers = [n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex() and v.numel() > 1]
    some = rng.sample(numbers, min(MOST, len(numbers)))
    deviations = {n: float(base.values[n].flatten()[:LOOKED_AT].double().std()) for n in numbers}
    ways: list[Way] = [
        partial(_probe, setting, base, n, side * rng.uniform(*BY) * deviations[n]) for n in some for side in (1, -1)
    ]
    ways += [
        partial(_probe_of_several, setting, base, {n: by * side * deviations[n] for n, side in sides.items()})
        for sides in _apart(rng.sample(numbers, min(TOGETHER, len(numbers))))
        for by in (rng.uniform(*WIDE),)
    ]
    near = [n for n in numbers if 0 < deviations[n] * BY[1] < FAR]
    for n in rng.sample(near, min(SOME, len(near))):
        ways += [partial(_far_probe, setting, base, n, side * FAR) for side in (1, -1)]
    return ways


def _apart(numbers: Sequence[int]) -> list[dict[int, int]]:
    """Sides for each of these, so that any two are on different ones, either way round."""
    bits = max(0, len(numbers) - 1).bit_length()
    found = [{n: 1 if place >> bit & 1 else -1 for place, n in enumerate(numbers)} for bit in range(bits)]
    return [{n: turn * side for n, side in sides.items()} for sides in found for turn in (1, -1)]


def _probe_of_several(setting: Setting, base: Case, by: Mapping[int, float]) -> Probe | None:
    values = list(base.values)
    for number, more in by.items():
        values[number] = (values[number] + more).to(values[number].dtype)
    return far_probe(setting, base, values, APART)


def _probe(setting: Setting, base: Case, number: int, by: float) -> Probe | None:
    values = list(base.values)
    values[number] = (values[number] + by).to(values[number].dtype)
    return far_probe(setting, base, values, LABEL)


def _far_probe(setting: Setting, base: Case, number: int, by: float) -> Probe | None:
    """Numbers that lose digits there may become equal."""
    probe = _probe(setting, base, number, by)
    if probe is None:
        return None
    case, compare = probe.case, probe.compare

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare(outputs)
        return verdict if verdict.passed else compare_decided(outputs, case, setting)

    return Probe(case, judge)
