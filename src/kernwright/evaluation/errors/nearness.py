"""How near outputs are to PyTorch's own: nearly all are so near that no oracle could find them wrong.

What a device has to tell of that is a few numbers, which may be read for many calls at once.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.numbers import SHORT, is_short, real
from kernwright.evaluation.problem.cases import Case

from .allowance import FEW, FEW_LESS, ROUNDED, Errors, chains_of, hides_rounding, unavoidable
from .distance import TOLD, distance
from .tails import TAIL, counted, has_tails, largest_of

STRETCH = 1 << 17
"""Elements compared at a time: a megabyte in float64, which stays in a core's cache."""
STRETCH_ON_DEVICE = 1 << 25
"""The same where much work at a time is what counts."""
_NEAR = 0.95
"""What is allowed is a share of the oracle's size; PyTorch's own differs from that by its error."""
_ALIKE = 0.1
"""Share of a rounding error: results that hide what was rounded before are as near as that where nothing was."""
_OTHERS = 0.02
"""Share of them that may be others than PyTorch's; a row that is larger than all others hides errors by their size."""
_SMALL = 1e-9
"""Of numbers below this, squares of differences would be lost in float32."""


@dataclass(frozen=True, slots=True)
class _Output:
    dtype: torch.dtype
    chain: float
    counts: tuple[int, ...]
    """Elements of each stretch; none of integers and truth values, of which one number tells whether any differ."""
    whole: bool
    """Whether one kernel told of all elements at once."""
    hides: bool
    """Rounding of its inputs; then another number tells how many differ."""
    tails: int
    """So many numbers, or parts of complex ones, may be most of its size, of which another number tells; 0 where nobody
    asks that."""

    @property
    def numbers(self) -> int:
        """How many it tells."""
        if not _has_digits(self.dtype):
            return 1
        return (TOLD if self.whole else Errors.TOLD * len(self.counts)) + bool(self.tails) + self.hides


@dataclass(frozen=True, slots=True)
class Nearness:
    """What the results of one call have to tell, and what follows from it."""

    told: torch.Tensor
    """Numbers, in float64, where the outputs are."""
    _outputs: tuple[_Output, ...]

    def most_off(self, told: Sequence[float]) -> float:
        """The most that a number of the outputs is off, as a share of its own size; infinite where that is not told."""
        numbers, most = iter(told), 0.0
        for output in self._outputs:
            own = [*islice(numbers, output.numbers)]
            if _has_digits(output.dtype):
                most = max(most, own[TOLD - 1] if output.whole and own[TOLD - 1] >= 0 else math.inf)
        return most

    def ratio(
        self, told: Sequence[float], problem: Problem, rest: Callable[[int], Errors] | None = None
    ) -> float | None:
        """The error over what is allowed, by these numbers as read; None where the outputs are not as near as that.

        `rest`: the errors of an output's numbers but for the largest, which have to be near as well where these may be
        most of its size (`tails`); without it such an output is not.

        With d the distance from PyTorch's result, e that one's own error, F what is allowed to anyone and r e what is
        allowed beside it: d <= (1 - 1/r) F gives d + e <= max(r e, F), whatever e is.
        """
        numbers, worst = iter(told), 0.0
        least = min(problem.tolerance.rms_ratio, problem.tolerance.max_ratio)
        share = _NEAR * (1 - 1 / least) if least > 1 else 0.0
        for index, output in enumerate(self._outputs):
            if not _has_digits(output.dtype):
                if next(numbers):
                    return None
                continue
            errors, off = Errors(), math.inf
            if output.whole:
                error, most, size, largest, off = islice(numbers, TOLD)
                errors.take(output.counts[0], [error, -most, most, size, -largest, largest])
            else:
                for count in output.counts:
                    errors.take(count, [*islice(numbers, Errors.TOLD)])
            if not (math.isfinite(errors.error_squares) and math.isfinite(errors.size_squares)):
                return None
            if errors.count and errors.size_max < _SMALL:
                return None
            if output.tails:
                counting = next(numbers)
                if counting <= FEW and errors.size_squares <= output.tails * errors.size_max**2:
                    over = _at_most(off, output, problem)
                    if over > share:
                        others = rest(index) if rest is not None else Errors()
                        if others.size_max < _SMALL:
                            return None
                        over = others.over(problem, output.dtype, output.chain)
                    worst = max(worst, over)
            alike = _ALIKE * ROUNDED * torch.finfo(output.dtype).eps
            if output.hides and (
                errors.error_squares > alike**2 * errors.size_squares or next(numbers) > _OTHERS * errors.count
            ):
                return None
            worst = max(worst, errors.over(problem, output.dtype, output.chain))
        return worst if worst <= share else None


def error_if_near(outputs: Sequence[torch.Tensor], case: Case, problem: Problem) -> float | None:
    """The error over what is allowed; None where the outputs are not so near that no oracle is needed."""
    found = nearness(outputs, case, problem)
    return found.ratio(found.told.tolist(), problem, partial(_but_for_the_largest, outputs, case))


def nearness(outputs: Sequence[torch.Tensor], case: Case, problem: Problem) -> Nearness:
    """Of these outputs; nothing is waited for."""
    told, about = [], []
    for got, own, chain in zip(outputs, case.native, chains_of(case, problem), strict=True):
        counts: list[int] = []
        whole = distance(got, own) if _has_digits(own.dtype) and own.numel() else None
        if whole is not None:
            told.append(whole)
            counts.append(own.numel())
        elif _has_digits(own.dtype):
            for stretch, true in stretches(got, own, dtype=_wide(own)):
                told.append(Errors.told(stretch, true).double())
                counts.append(true.numel())
        else:
            told.append((got != own).any().double().view(1))
        hides = _has_digits(own.dtype) and hides_rounding(own.dtype, case, problem)
        tails = 0
        if _has_digits(own.dtype) and int(TAIL * own.numel()) >= FEW and has_tails(case, problem):
            tails = FEW * (2 if own.dtype.is_complex else 1)
            told.append(
                counted(_workable(own)) if own.numel() <= STRETCH else torch.zeros(1, device=own.device).double()
            )
        if hides:
            told.append((_workable(got) != _workable(own)).sum().double().view(1))
        about.append(_Output(own.dtype, chain, tuple(counts), whole is not None, hides, tails))
    return Nearness(torch.cat(told) if told else torch.empty(0, dtype=torch.float64), tuple(about))


def _at_most(off: float, output: _Output, problem: Problem) -> float:
    """What the error of any of an output's numbers is at most over what is allowed, where none is `off` by a larger
    share of its own size."""
    least = unavoidable(problem, output.dtype, output.chain / FEW_LESS)
    return off / least if least else math.inf


def _but_for_the_largest(outputs: Sequence[torch.Tensor], case: Case, index: int) -> Errors:
    """Of one output's numbers; which are the largest PyTorch's own say."""
    both = [*map(_workable, (outputs[index], case.native[index]))]
    largest, errors = largest_of(both[1]), Errors()
    others = (torch.where(largest, 0.0, each) for each in both)
    for stretch, true in stretches(*others, dtype=_wide(both[1])):
        errors.add(stretch, None, true)
    return errors


def _workable(numbers: torch.Tensor) -> torch.Tensor:
    """Those that hardly any operator takes, as others."""
    return numbers.float() if is_short(numbers) else numbers


def _wide(own: torch.Tensor) -> torch.dtype:
    """As wide as they are, float32 at least: this is done of hundreds of calls, and nothing hangs on a last digit."""
    return torch.float32 if own.dtype in SHORT else torch.promote_types(real(own).dtype, torch.float32)


def stretches(*tensors: torch.Tensor, dtype: torch.dtype = torch.float64) -> Iterator[tuple[torch.Tensor, ...]]:
    """The same places of each, a stretch at a time, flat and in float64: sums of a narrow type would overflow."""
    flat = [real(t).flatten() for t in tensors]
    stretch = STRETCH if flat[0].device.type == "cpu" else STRETCH_ON_DEVICE
    for start in range(0, flat[0].numel(), stretch):
        yield tuple(t[start : start + stretch].to(dtype) for t in flat)


def _has_digits(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
