"""Numbers that are moved, or scaled by a power of two, come out to the last bit: who loses last digits on their way has
not put them in order, say, whatever is made of them afterwards.

A reference that does no more than that is known by what it makes of numbers of few digits: numbers of as few.
"""

import math
import random
from collections.abc import Sequence
from functools import partial

import torch

from .cases import Case, Values
from .comparison import Verdict
from .numbers import is_number
from .probe import Probe, Way, changed
from .setting import Setting

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
    return Probe(base, partial(_same_numbers, setting, base)) if _is_exact(setting, base, rng) else None


def _same_numbers(setting: Setting, case: Case, outputs: list[torch.Tensor]) -> Verdict:
    """Of integers it is not asked: which of several equal ones was meant is for others to say."""
    for name, got, native in zip(setting.names, outputs, case.native, strict=True):
        if not native.is_floating_point():
            continue
        if not bool((altered := got != native).any()):
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


def _is_exact(setting: Setting, base: Case, rng: random.Random) -> bool:
    """Found out once for each workload. What gradients are summed of is not known, and of 16 bits few would be left."""
    known, name = setting.reference.exact, setting.workload.name
    if name not in known:
        numbers = [t for t in (*base.values, *base.native) if is_number(t)]
        known[name] = (
            not setting.reference.problem.backward
            and any(t.is_floating_point() for t in base.native)
            and all(t.dtype in DIGITS for t in numbers)
            and _keeps_digits(setting, base, _of_few_digits(setting, base, rng))
        )
    return known[name]


def _of_few_digits(setting: Setting, base: Case, rng: random.Random) -> Values:
    def cut(value: torch.Tensor) -> torch.Tensor:
        bits, left_out = DIGITS[value.dtype]
        return ((value * rng.uniform(*LESS)).contiguous().view(bits) >> left_out << left_out).view(value.dtype)

    return changed(setting, base, cut)


def _keeps_digits(setting: Setting, base: Case, values: Values) -> bool:
    numbers = [value for value in values if is_number(value)]
    if not numbers or not all(map(_has_few_digits, numbers)):
        return False
    results = _results(setting.reference.outputs(setting.model, values))
    few, usually_few = _ends_in_zeros(results, 0), _ends_in_zeros(_results(base.native), 0)
    if _kinds(results[~few]) > KINDS or _kinds(results[few]) < LEAST:
        return False
    return int(usually_few.sum()) * 2 < usually_few.numel()  # else it rounds to few digits itself


def _kinds(results: torch.Tensor) -> int:
    return len({*results[:LOOKED_AT].tolist()})


def _results(outputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """All numbers but zeros and infinities, in the narrowest type."""
    floating = [t for t in outputs if t.is_floating_point()]
    narrowest = min((t.dtype for t in floating), key=lambda dtype: dtype.itemsize)
    results = torch.cat([t.flatten().to(narrowest) for t in floating])
    return results[torch.isfinite(results) & (results != 0)]


def _has_few_digits(value: torch.Tensor) -> bool:
    """Whether these were cut off, and the last that stay are there: what all draws share may have restored others."""
    some = value[torch.isfinite(value) & (value != 0)]
    cut, fewer = _ends_in_zeros(some, 0), _ends_in_zeros(some, LAST)
    return bool(cut.all()) and int(fewer.sum()) * 2 <= some.numel()


def _ends_in_zeros(numbers: torch.Tensor, beyond: int) -> torch.Tensor:
    bits, left_out = DIGITS[numbers.dtype]
    return (numbers.contiguous().view(bits) & ((1 << (left_out + beyond)) - 1)) == 0
