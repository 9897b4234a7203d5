"""Numbers that are moved, or scaled by a power of two, come out as exactly: who loses last digits on their way has not
put them in order, say, whatever is made of them afterwards.

A reference that does no more than that is known by what it makes of numbers of few digits: numbers of as few.
"""

import math
import random
from collections.abc import Sequence
from functools import partial

import torch

from kernwright.evaluation.errors.allowance import rounding
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting

from .probe import Probe, Way, changed

DIGITS = {torch.float32: (torch.int32, 12), torch.float64: (torch.int64, 41)}
"""Bits at the end of a number that are left out so that twelve stay: results of arithmetic have more of them."""
LAST = 4
"""Of the bits that stay; who has none of these has fewer digits of his own."""
LESS = (0.55, 0.95)
"""Inputs may have few digits, as fixed-point and whole numbers do, of which sums and differences are exact as well:
times one of these they have all."""
KINDS, LEAST = 4, 20
"""Of results so many kinds may have more digits, as a bound in the code has, and at least so many have few: a sum of
two numbers has no more than they in a third of all cases."""
LOOKED_AT = 4096
LOST = 8.0
"""Epsilons of a result, or of the usual one where that is larger: `x + m * (y - x)` rounds where `torch.where` does
not. Where marks are much larger than numbers, as -1e9 is, nobody reckons like that."""


def exact_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One, where the reference rounds nothing."""
    return [partial(_unaltered, setting, base, rng)]


def _unaltered(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    exact = _exact(setting, base, rng)

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        return beside_any_choice(partial(_same_numbers, outputs, exact, setting.names), base, setting)

    return Probe(base, judge) if any(exact) else None


def _same_numbers(outputs: Sequence[torch.Tensor], exact: Sequence[bool], names: Sequence[str], case: Case) -> Verdict:
    """Of integers it is not asked: which of several equal ones was meant is for others to say."""
    for name, got, native, asked in zip(names, outputs, case.native, exact, strict=True):
        if not asked or not bool((altered := got != native).any()):
            continue
        off = torch.where(altered, (got.double() - native.double()).abs(), 0.0)
        if not bool((off <= _allowed(native)).all()):
            detail = f"{name}: numbers of the inputs come out altered, by up to {float(off.max()):.3g}"
            return Verdict(passed=False, ratio=math.inf, detail=detail)
    return Verdict(passed=True, ratio=0.0)


def _allowed(native: torch.Tensor) -> torch.Tensor:
    sizes = native.abs().double()
    some = sizes[torch.isfinite(sizes)]
    usual = float(some.median()) if some.numel() else 0.0
    return sizes.clamp(min=usual) * LOST * torch.finfo(native.dtype).eps


def _exact(setting: Setting, base: Case, rng: random.Random) -> list[bool]:
    """Of each output; found out once for each workload. What gradients are summed of is not known, of 16 bits few would
    be left, and where rules allow rounding inside a product with zeros and ones rounds."""
    problem = setting.reference.problem

    def found() -> list[bool]:
        numbers = [value for value in base.values if is_number(value)]
        fit = not problem.backward and rounding(problem) == 0.0 and all(value.dtype in DIGITS for value in numbers)
        values = _of_few_digits(setting, base, rng) if fit and numbers else []
        fit = bool(values) and all(_has_few_digits(value) for value in values if is_number(value))
        others = setting.reference.outputs(setting.model, values) if fit else base.native
        pairs = zip(others, base.native, strict=True)
        return [fit and own.dtype in DIGITS and _keeps_digits(other, own) for other, own in pairs]

    return setting.reference.known.once(setting.workload, "exact", found)


def _of_few_digits(setting: Setting, base: Case, rng: random.Random) -> Values:
    def cut(value: torch.Tensor) -> torch.Tensor:
        bits, left_out = DIGITS[value.dtype]
        return ((value * rng.uniform(*LESS)).contiguous().view(bits) >> left_out << left_out).view(value.dtype)

    return changed(setting, base, cut)


def _keeps_digits(found: torch.Tensor, usual: torch.Tensor) -> bool:
    """Whether one output of numbers of few digits has few, and usually more: else it rounds to few itself."""
    results, usually = (t[torch.isfinite(t) & (t != 0)] for t in (found, usual))
    few, usually_few = _ends_in_zeros(results, 0), _ends_in_zeros(usually, 0)
    if _kinds(results[~few]) > KINDS or _kinds(results[few]) < LEAST:
        return False
    return int(usually_few.sum()) * 2 < usually_few.numel()


def _kinds(results: torch.Tensor) -> int:
    return len({*results[:LOOKED_AT].tolist()})


def _has_few_digits(value: torch.Tensor) -> bool:
    """Whether these were cut off, and the last that stay are there: what all draws share may have restored others."""
    some = value[torch.isfinite(value) & (value != 0)]
    cut, fewer = _ends_in_zeros(some, 0), _ends_in_zeros(some, LAST)
    return bool(cut.all()) and int(fewer.sum()) * 2 <= some.numel()


def _ends_in_zeros(numbers: torch.Tensor, beyond: int) -> torch.Tensor:
    bits, left_out = DIGITS[numbers.dtype]
    return (numbers.contiguous().view(bits) & ((1 << (left_out + beyond)) - 1)) == 0
