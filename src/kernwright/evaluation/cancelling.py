"""What additions leave of a sum whose terms cancel: it goes by the size of the terms, not by what is left of them.

Of many results the largest say how large terms are. Of a few, such as one dot product of a call, any may be next to
nothing by chance, and no order of additions is right to as many digits of that.
"""

import torch

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem

from .allowance import FEW, FEW_LESS, unavoidable
from .cases import Asked, Case
from .tails import tail_in
from .terms import MovedTerms

RUNS = 16
"""What four ways of moving terms move one number by is less than a third of what is usual in 1 of 47 cases, what
sixteen do in 1 of 200,000 (the squares add up to a chi-squared variable)."""
LONGEST = 1 << 20
"""Additions that one register may hold: a product of matrices adds up an element of its result without parts."""
TAIL_LESS = 4.0
"""As `FEW_LESS` of those few that are most of many, of which the others are looked at by themselves: where terms come
in order, what is added up on the way is larger than their squares tell."""
SCALE = 2.0**-12
"""Terms are moved by so much of what additions may lose, so that what comes after moves in proportion."""


class Left:
    """The error that is allowed one output, found when it is first asked for."""

    def __init__(self, case: Case, problem: Problem, index: int) -> None:
        self._case, self._problem, self._index = case, problem, index
        self._squares: torch.Tensor | None = None
        self._known = False

    def over(self, tail: torch.Tensor | None = None) -> tuple[float, float]:
        """RMS, and of the number that may be furthest off; but for those of a `tail`, as truth values. 0 where there
        are many numbers that make up its size, or where no oracle is wider."""
        if not self._known:
            self._squares, self._known = left_of_terms(self._case, self._problem, self._index), True
        if self._squares is None:
            return 0.0, 0.0
        squares = self._squares if tail is None else torch.where(tail, 0.0, self._squares)
        return float(squares.mean().sqrt()), float(squares.max().sqrt())


def left_of_terms(case: Case, problem: Problem, index: int) -> torch.Tensor | None:
    """The mean square error that is allowed each of few numbers, or of such as few are most of; None where there are
    more, or where no oracle is wider."""
    native = case.native[index]
    if not isinstance(case, Asked) or case.wide is None or problem.tolerance.reduction:
        return None
    few = native.numel() <= FEW
    if not few and tail_in(case, index) is None:
        return None
    shorter = FEW_LESS if few else TAIL_LESS

    def lost(terms: float) -> float:
        return SCALE * unavoidable(problem, native.dtype, min(terms, LONGEST) / shorter)

    squares = torch.zeros(native.shape, dtype=torch.float64, device=native.device)
    for number in range(RUNS):
        try:
            with MovedTerms(number, lost):
                moved = case.wide(case.values)[index]
        except (UserError, IndexError):
            return None
        if moved.shape != native.shape:
            return None
        squares += (moved - case.oracle[index]).abs().double().square()
    squares /= RUNS * SCALE**2
    return squares if bool(squares.isfinite().all()) and squares.numel() else None
