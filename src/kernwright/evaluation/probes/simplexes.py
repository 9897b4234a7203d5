"""Zeros in what sums to 1: shares of which one is all, or half are none.

A softmax of what was drawn is nowhere 0, that of data is: labels are certain, and a small share is lost below what a
type holds. Whoever writes a logarithm times a share gives no number there, where the reference's function gives 0.
Where the reference gives none either nothing is asked.
"""

import random
from functools import partial

import torch

from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .lines import compare_lines
from .probe import Probe, Way, all_finite

LABEL = "shares of which some are 0"
SMOOTHED = 0.08
"""No share is smaller than this times an equal one where labels are smoothed on purpose, and no 0 is a share then."""
SHARE, MOST = 64, 16
"""One line in so many is of each kind, one at least, and no more than that."""


def simplex_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One for each input whose lines sum to 1, at places that no draw has 0 at."""
    return [
        partial(_probe, setting, base, rng, number, each.lines.axis)
        for number, each in setting.regular.items()
        if each.lines is not None and each.lines.kind == "sum" and each.zeros is None and number not in setting.marks
        if each.extent is None or each.extent.least * base.values[number].shape[each.lines.axis] < SMOOTHED
    ]


def _probe(setting: Setting, base: Case, rng: random.Random, number: int, axis: int) -> Probe | None:
    values = list(base.values)
    values[number] = _with_zeros(values[number].movedim(axis, -1), rng).movedim(-1, axis).contiguous()
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not all_finite([*case.native, *case.oracle]):
        return None
    return Probe(case, partial(compare_lines, case=case, setting=setting))


def _with_zeros(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    made = value.clone(memory_format=torch.contiguous_format)
    lines = made.view(-1, value.shape[-1])
    count, length = lines.shape
    some = max(1, min(count // SHARE, MOST))
    chosen = rng.sample(range(count), min(2 * some, count))
    for index in chosen[:some]:
        lines[index] = 0
        lines[index, rng.randrange(length)] = 1
    for index in chosen[some:]:
        lines[index, rng.sample(range(length), length // 2)] = 0
        lines[index] /= lines[index].sum()
    return made
