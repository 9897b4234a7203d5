"""What additions leave of a sum whose terms cancel: it goes by the size of the terms, not by what is left of them.

Of many results the largest say how large terms are. Of a few, such as one dot product of a call, any may be next to
nothing by chance, and no order of additions is right to as many digits of that.
"""

import math

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem

from .allowance import FEW, FEW_LESS, chains_of, once, unavoidable
from .cases import Asked, Case
from .numbers import is_number
from .ties import moved_by_rounding

RUNS = range(0, 64, 4)
"""Of the inputs that differ in their last digits, those that differ by the same share, each in its own way. What four
of them move one number by is less than a third of what is usual in 1 of 50 cases, what sixteen do in 1 of a million."""
LONGEST = 1 << 20
"""Additions that one register may hold: a product of matrices adds up an element of its result without parts."""


def left_of_terms(case: Case, problem: Problem, index: int) -> float:
    """The error that is allowed a result of few numbers; 0 where there are more, or where no oracle is wider.

    Inputs that differ by shares which are evenly spread up to s move a sum by s / sqrt(3) of the root of the sum of its
    terms' squares: the size of what honest additions have on their way.
    """
    native = case.native[index]
    if native.numel() > FEW or not isinstance(case, Asked) or case.wide is None or problem.tolerance.reduction:
        return 0.0
    moves = max((once(problem, v.dtype) for v in case.values if is_number(v)), default=math.inf)
    size = problem.tolerance.epsilon_factor * moves / math.sqrt(3)
    squares = 0.0
    for number in RUNS:
        try:
            moved = case.wide(moved_by_rounding(case.values, problem, number))[index]
        except (UserError, IndexError):
            return 0.0
        if moved.shape != native.shape:
            return 0.0
        squares += float(((moved - case.oracle[index]).abs().double() ** 2).mean())
    terms = math.sqrt(squares / len(RUNS)) / size
    chain = chains_of(case, problem, LONGEST)[index]
    return unavoidable(problem, native.dtype, chain / FEW_LESS) * terms if math.isfinite(terms) else 0.0
