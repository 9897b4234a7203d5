"""What additions leave of a sum whose terms cancel: it goes by the size of the terms, not by what is left of them.

Of many results the largest say how large terms are. Of a few, such as one dot product of a call, any may be next to
nothing by chance, and no order of additions is right to as many digits of that.
"""

from collections.abc import Callable
from functools import cached_property

import torch

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem
from kernwright.evaluation.numbers import widened
from kernwright.evaluation.problem.cases import Asked, Case

from .allowance import FEW, FEW_LESS, GROSS, added, unavoidable
from .tails import tail_in
from .terms import MovedTerms

RUNS = 16
"""What four ways of moving terms move one number by is less than a third of what is usual in 1 of 47 cases, what
sixteen do in 1 of 200,000 (the squares add up to a chi-squared variable)."""
LONGEST = 1 << 20
"""Additions that one register may hold: a product of matrices adds up an element of its result without parts."""
EACH_LESS, EACH_OFF = 4.0, 2.0
"""As `FEW_LESS`, of each number where few of many are most of the size: where terms come in order, what is added up on
the way is larger than their squares tell. And how many times as far as that one of them may be off."""
SCALE = 2.0**-12
"""Terms are moved by so much of what additions may lose, so that what comes after moves in proportion."""


class Left:
    """What additions leave of one output's numbers, found when it is first asked for."""

    def __init__(self, case: Case, problem: Problem, index: int) -> None:
        self._case, self._problem, self._index = case, problem, index

    @cached_property
    def tail(self) -> torch.Tensor | None:
        """Where those numbers stand that are nearly all of its size; None where there are few or many such."""
        return tail_in(self._case, self._problem, self._index)

    @cached_property
    def rms(self) -> float:
        """The error that is allowed few numbers; 0 where there are more, or where no oracle is wider."""
        if self._case.native[self._index].numel() > FEW:
            return 0.0

        def lost(terms: float) -> float:
            return unavoidable(self._problem, self._case.native[self._index].dtype, terms / FEW_LESS)

        squares = left_of_terms(self._case, self._problem, self._index, lost)
        return 0.0 if squares is None else float(squares.mean().sqrt())

    def nearer(self, got: torch.Tensor) -> torch.Tensor:
        """The numbers, each by as much nearer to the oracle's as it may be off, where there is a tail."""
        if self._each is None:
            return got
        oracle = self._case.oracle[self._index]
        off = widened(got) - oracle
        size = off.abs()
        known = size.isfinite() & (size > 0)
        share = torch.where(known, (1 - EACH_OFF * self._each / size).clamp(min=0), 1.0)
        return torch.where(known, oracle + off * share, got)

    @cached_property
    def _each(self) -> torch.Tensor | None:
        if self.tail is None:
            return None
        # The rounding of a result is none of its terms', and PyTorch's own error has it.
        factor, dtype = self._problem.tolerance.epsilon_factor, self._case.native[self._index].dtype

        def lost(terms: float) -> float:
            return min(factor * added(self._problem, dtype, terms / EACH_LESS), GROSS)

        squares = left_of_terms(self._case, self._problem, self._index, lost)
        return None if squares is None else squares.sqrt()


def left_of_terms(case: Case, problem: Problem, index: int, lost: Callable[[float], float]) -> torch.Tensor | None:
    """The mean square error that additions explain of each number; None where no oracle is wider.

    `lost`: the share of a term that a sum of so many may lose.
    """
    native = case.native[index]
    if not isinstance(case, Asked) or case.wide is None or problem.tolerance.reduction:
        return None
    squares = torch.zeros(native.shape, dtype=torch.float64, device=native.device)
    for number in range(RUNS):
        try:
            with MovedTerms(number, lambda terms: SCALE * lost(min(terms, LONGEST))):
                moved = case.wide(case.values)[index]
        except (UserError, IndexError):
            return None
        if moved.shape != native.shape:
            return None
        squares += (moved - case.oracle[index]).abs().double().square()
    squares /= RUNS * SCALE**2
    return squares if bool(squares.isfinite().all()) else None
