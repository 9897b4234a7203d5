"""What additions leave of a sum whose terms cancel: it goes by the size of the terms, not by what is left of them.

Of many results the largest say how large terms are. Of a few, such as one dot product of a call, any may be next to
nothing by chance, and no order of additions is right to as many digits of that.
"""

import math

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem

from .allowance import FEW, FEW_LESS, unavoidable
from .cases import Asked, Case
from .terms import MovedTerms

RUNS = 16
"""What four ways of moving terms move one number by is less than a third of what is usual in 1 of 47 cases, what
sixteen do in 1 of 200,000 (the squares add up to a chi-squared variable)."""
LONGEST = 1 << 20
"""Additions that one register may hold: a product of matrices adds up an element of its result without parts."""
SCALE = 2.0**-12
"""Terms are moved by so much of what additions may lose, so that what comes after moves in proportion."""


def left_of_terms(case: Case, problem: Problem, index: int) -> float:
    """The error that is allowed a result of few numbers; 0 where there are more, or where no oracle is wider."""
    native = case.native[index]
    if native.numel() > FEW or not isinstance(case, Asked) or case.wide is None or problem.tolerance.reduction:
        return 0.0

    def lost(terms: float) -> float:
        return SCALE * unavoidable(problem, native.dtype, min(terms, LONGEST) / FEW_LESS)

    squares = 0.0
    for number in range(RUNS):
        try:
            with MovedTerms(number, lost):
                moved = case.wide(case.values)[index]
        except (UserError, IndexError):
            return 0.0
        if moved.shape != native.shape:
            return 0.0
        squares += float(((moved - case.oracle[index]).abs().double() ** 2).mean())
    left = math.sqrt(squares / RUNS) / SCALE
    return left if math.isfinite(left) else 0.0
